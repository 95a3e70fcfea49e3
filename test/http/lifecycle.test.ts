import { expect, test } from "vitest";
import type { InboxStore } from "../../src/kit/index.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { latch } from "./latch.js";
import { deliver, delivery, listen, makeReceiver, serve, sqliteOnDisk, STACKS } from "./serve.js";
import { headOf, openWire } from "./wire.js";

test("start and close may be called twice, and close may come first", async () => {
  const receiver = makeReceiver({ store: sqliteOnDisk() });
  expect(receiver.health().state).toBe("idle");
  await Promise.all([receiver.start(), receiver.start()]);
  await receiver.start();
  expect(receiver.health()).toMatchObject({ ok: true, state: "running" });
  await Promise.all([receiver.close(), receiver.close()]);
  await receiver[Symbol.asyncDispose]();
  expect(receiver.health()).toMatchObject({ ok: false, state: "closed" });
  const unstarted = makeReceiver();
  await unstarted.close();
  for (const closed of [receiver, unstarted])
    await expect(closed.start()).rejects.toMatchObject({ code: "receiver_closed" });
});

test("close during start waits for it and leaves the store free for the next", async () => {
  const store = sqliteOnDisk();
  const receiver = makeReceiver({ store });
  const starting = receiver.start();
  await receiver.close();
  await starting;
  expect(receiver.health().state).toBe("closed");
  const { port } = await serve({ store });
  expectAcknowledged(await deliver(port), RECEIVED);
});

test.for(STACKS)(
  "a receiver that takes nothing says so before the body, over $name",
  async ({ mount }) => {
    const receiver = makeReceiver();
    const port = await listen(await mount(receiver));
    const head = headOf({}, 10);
    const wire = await openWire(port);
    await wire.write(head);
    expectRefused(await wire.next(), 503, "store_unavailable");
    await receiver.start();
    await receiver.close();
    await wire.write(Buffer.concat([Buffer.alloc(10), head]));
    expectRefused(await wire.next(), 503, "closing");
  },
);

test("deliveries get 503 until start is done; one that failed may be tried again", async () => {
  const store = memoryStore();
  const opening = latch();
  let fails = true;
  const open: InboxStore["open"] = async (context) => {
    await opening.opened;
    if (fails) throw new Error("not yet");
    return store.open(context);
  };
  const receiver = makeReceiver({ store: { ...store, open } });
  const port = await listen(nodeHandler(receiver));
  const failed = expect(receiver.start()).rejects.toThrow("not yet");
  expectRefused(await deliver(port), 503, "store_unavailable");
  expect(receiver.health()).toMatchObject({ ok: false, state: "starting" });
  opening.open();
  await failed;
  expectRefused(await deliver(port), 503, "store_unavailable");
  fails = false;
  await receiver.start();
  expectAcknowledged(await deliver(port), RECEIVED);
});

test.for(STACKS)("a body that ends after close began is not taken, over $name", async (stack) => {
  const store = memoryStore();
  const { receiver, port } = await serve({ store }, stack);
  const reading = latch();
  const listener = await stack.mount(receiver);
  const watched = await listen((request, response) => {
    listener(request, response);
    reading.open();
  });
  const { headers, body } = delivery();
  const wire = await openWire(watched);
  await wire.write(headOf(headers, body.byteLength));
  await reading.opened;
  await receiver.close();
  await wire.write(body);
  expectRefused(await wire.next(), 503, "closing");
  expectRefused(await deliver(port), 503, "closing");
  const successor = makeReceiver({ store });
  await successor.start();
  expect(await successor.inbox.stats()).toMatchObject({ total: 0 });
});
