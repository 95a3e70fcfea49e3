import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { heldStore } from "../held-store.js";
import { delivery, listen, nextEvent, startReceiver } from "../serve.js";
import { exchange } from "../wire.js";

/** What would have ended the host's process. */
function uncaught(): unknown[] {
  const errors: unknown[] = [];
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners("uncaughtException");
    for (const listener of listeners) process.on("uncaughtException", listener);
  });
  return errors;
}

/** A hook on the head, as on-headers sets them, that answers by itself. */
function endInTheHead(response: ServerResponse): void {
  const { writeHead } = response;
  response.writeHead = (): ServerResponse => {
    response.writeHead = writeHead;
    return response.writeHead(204).end();
  };
}

/**
 * A hook on the end, as those set it that measure or cache, that comes too late with what it has to
 * add.
 */
function writeAfterTheEnd(response: ServerResponse): void {
  const { end } = response;
  response.end = ((...args: Parameters<typeof end>): ServerResponse => {
    end.apply(response, args);
    response.write("too late");
    return response;
  }) as typeof end;
}

test.for([
  { hook: endInTheHead, status: 204 },
  { hook: writeAfterTheEnd, status: 200 },
])(
  "a hook of the host ($hook.name) that writes where nothing may be written ends no process",
  async (each) => {
    const { hook, status } = each;
    const errors = uncaught();
    const handler = nodeHandler(await startReceiver());
    const port = await listen((request, response) => {
      hook(response);
      handler(request, response);
    });
    expect((await exchange(port, delivery())).status).toBe(status);
    expect(errors).toEqual([]);
  },
);

test("an answer that the host has begun, as a time-out does, goes out whole", async () => {
  const held = heldStore();
  const receiver = await startReceiver({ store: held.store });
  const handler = nodeHandler(receiver);
  let finish: () => void = () => undefined;
  const port = await listen((request, response) => {
    handler(request, response);
    response.writeHead(504, { "Content-Length": 8 });
    response.write("too ");
    finish = () => response.end("late");
  });
  held.hold();
  const answer = exchange(port, delivery());
  await held.waits();
  const accepted = nextEvent(receiver, "accepted");
  held.release();
  await accepted;
  await new Promise((resume) => setImmediate(resume));
  finish();
  expect(await answer).toMatchObject({ status: 504, body: "too late" });
});
