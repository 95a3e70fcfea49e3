import express from "express";
import { expect, test } from "vitest";
import { expressHandler } from "../../src/kit/receiver/adapters/express-handler.js";
import { defineSender } from "../../src/kit/senders/index.js";
import { signalEvent, signedDelivery, testReceiver } from "../../src/kit/testing/index.js";
import { listen, STACKS } from "./serve.js";
import { exchange, MOUNT } from "./wire.js";

const path = `${MOUNT}/a?b=1`;

/** An adapter that a user writes gives what it has: the iterable one here has no address. */
const WITH_ADDRESS = STACKS.filter(({ name }) => name !== "an iterable");

test.for(WITH_ADDRESS)(
  "a sender's functions get every header and the whole path, over $name",
  async ({ mount }) => {
    const asked: unknown[] = [];
    const sender = defineSender({
      name: "own",
      verify: ({ headers, url, secret }) => {
        asked.push(url);
        return headers["x-token"] === secret;
      },
      read: ({ json }) => ({ id: json.id, type: "a" }),
      handshake: {
        options: ({ headers, query }) => ({
          headers: {
            "WebHook-Allowed-Origin": `${headers["webhook-request-origin"]} ${query.get("b")}`,
          },
        }),
      },
    });
    const { receiver } = await testReceiver({ sender, secrets: "right" });
    const port = await listen(await mount(receiver));
    for (const [token, status] of [
      ["right", 200],
      ["wrong", 401],
    ] as const) {
      const headers = { "Content-Type": "application/json", "X-Token": token };
      expect((await exchange(port, { path, headers, body: '{"id":"1"}' })).status).toBe(status);
    }
    expect(asked).toEqual([path, path]);
    const headers = { "WebHook-Request-Origin": "events.example" };
    expect(await exchange(port, { method: "OPTIONS", path, headers })).toMatchObject({
      status: 200,
      headers: { "webhook-allowed-origin": "events.example 1" },
    });
    await receiver.close({ graceMs: 0 });
  },
);

test.for(WITH_ADDRESS)("the tenant is found in the whole path, over $name", async ({ mount }) => {
  const { receiver, clock } = await testReceiver({
    tenant: ({ url, headers }) => {
      const [, tenant] = /^\/webhooks\/signals\/([\w-]+)\?a=1$/.exec(url) ?? [];
      return headers["x-of"] === "a header" ? (tenant ?? null) : null;
    },
    secrets: ({ tenant }) => `whsec_${tenant}`,
  });
  const port = await listen(await mount(receiver));
  const event = signalEvent();
  const signed = { secret: "whsec_acme", now: clock.now(), headers: { "X-Of": "a header" } };
  const { headers, body } = signedDelivery(event, signed);
  const post = (rest: string) =>
    exchange(port, { path: `${MOUNT}${rest}`, headers, body: body.toString() });
  expect((await post("/acme?a=1")).status).toBe(200);
  expect((await post("/beta?a=1")).status).toBe(401);
  expect((await post("/acme")).status).toBe(404);
  expect(await receiver.inbox.get(`acme/${event.id}`)).toBeDefined();
  await receiver.close({ graceMs: 0 });
});

test("the tenant is found below a parameter and a router of Express", async () => {
  const { receiver, clock } = await testReceiver({
    tenant: ({ url }) => /^\/of\/([\w-]+)\/hooks\/in$/.exec(url)?.[1] ?? null,
    secrets: ({ tenant }) => `whsec_${tenant}`,
  });
  const router = express.Router().use("/in", expressHandler(receiver));
  const port = await listen(express().use("/of/:tenant/hooks", router));
  const { headers, body } = signedDelivery(signalEvent(), {
    secret: "whsec_acme",
    now: clock.now(),
  });
  const request = { path: "/of/acme/hooks/in", headers, body: body.toString() };
  expect((await exchange(port, request)).status).toBe(200);
  await receiver.close({ graceMs: 0 });
});
