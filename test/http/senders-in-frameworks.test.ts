import { createServer } from "node:http";
import express from "express";
import express4 from "express4";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { fetchHandler } from "../../src/kit/receiver/adapters/fetch-handler.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import type { Receiver } from "../../src/kit/receiver/receiver.js";
import type { Sender } from "../../src/kit/senders/engine/sender.js";
import { defineSender } from "../../src/kit/senders/index.js";
import { testReceiver } from "../../src/kit/testing/index.js";

// What a sender is asked about a request is the same in each framework: all of its headers, and its
// whole path.

interface Sent {
  method: "POST" | "OPTIONS";
  path: string;
  headers: Record<string, string>;
  body: string;
}
type Answer = { status: number; headers: Record<string, string> };
type Ask = (receiver: Receiver, sent: Sent) => Promise<Answer>;

const overHttp =
  (listenerOf: (receiver: Receiver) => Parameters<typeof request>[0]): Ask =>
  async (receiver, { method, path, headers, body }) => {
    const asked =
      method === "POST"
        ? request(listenerOf(receiver)).post(path)
        : request(listenerOf(receiver)).options(path);
    const { status, headers: answered } = await asked.set(headers).send(body);
    return { status, headers: answered };
  };

const FRAMEWORKS: readonly (readonly [string, Ask])[] = [
  ["node:http", overHttp((receiver) => createServer(nodeHandler(receiver)))],
  ["Express 5", overHttp((receiver) => express().use("/hooks", expressHandler(receiver)))],
  ["Express 4", overHttp((receiver) => express4().use("/hooks", expressHandler(receiver)))],
  [
    "fetch",
    async (receiver, { method, path, headers, body }) => {
      const init = { method, headers, ...(method === "POST" && { body }) };
      const answer = await fetchHandler(receiver)(
        new Request(`https://hooks.example${path}`, init),
      );
      return { status: answer.status, headers: Object.fromEntries(answer.headers) };
    },
  ],
];

async function receiverOf(sender: Sender<object>, secrets: string): Promise<Receiver> {
  const { receiver } = await testReceiver({ sender, secrets });
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  return receiver;
}

test.each(FRAMEWORKS)("%s: verify gets every header and the whole path", async (_name, ask) => {
  const asked: unknown[] = [];
  const sender = defineSender({
    name: "own",
    verify: ({ headers, url, secret }) => {
      asked.push(url);
      return headers["x-token"] === secret;
    },
    read: ({ json }) => ({ id: json.id, type: "a" }),
  });
  const receiver = await receiverOf(sender, "right");
  const sent = { method: "POST", path: "/hooks/a?b=1", body: '{"id":"1"}' } as const;
  const type = { "content-type": "application/json" };
  expect(await ask(receiver, { ...sent, headers: { ...type, "X-Token": "right" } })).toMatchObject({
    status: 200,
  });
  expect(await ask(receiver, { ...sent, headers: { ...type, "X-Token": "wrong" } })).toMatchObject({
    status: 401,
  });
  expect(asked).toEqual(["/hooks/a?b=1", "/hooks/a?b=1"]);
});

test.each(FRAMEWORKS)(
  "%s: OPTIONS is answered by the headers of the request",
  async (_name, ask) => {
    const sender = defineSender({
      name: "own",
      signature: { header: "x-own" },
      read: () => ({ id: null, type: "a" }),
      handshake: {
        options: ({ headers }) => ({
          headers: { "WebHook-Allowed-Origin": headers["webhook-request-origin"] ?? "none" },
        }),
      },
    });
    const receiver = await receiverOf(sender, "secret");
    const headers = { "WebHook-Request-Origin": "events.example" };
    expect(
      await ask(receiver, { method: "OPTIONS", path: "/hooks/a", headers, body: "" }),
    ).toMatchObject({
      status: 200,
      headers: { "webhook-allowed-origin": "events.example" },
    });
  },
);
