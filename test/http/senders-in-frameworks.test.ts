import { expect, test } from "vitest";
import { defineSender } from "../../src/kit/senders/index.js";
import { testReceiver } from "../../src/kit/testing/index.js";
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
