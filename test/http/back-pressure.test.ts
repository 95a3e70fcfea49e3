import { expect, test } from "vitest";
import type { ReceiverOptions } from "../../src/kit/index.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { DUPLICATE, expectAcknowledged, expectRefused, RECEIVED } from "./expect-answer.js";
import { heldStore } from "./held-store.js";
import { deliver, delivery, nextEvent, roundTrip, serve, sqliteOnDisk, STACKS } from "./serve.js";
import { headOf, openWire, rawRequest } from "./wire.js";

test.for(STACKS)(
  "when too many events wait the next gets 503 before its body is read, over $name",
  async (stack) => {
    const held = heldStore();
    const { receiver, port } = await serve({ store: held.store, maxQueued: { events: 1 } }, stack);
    held.hold();
    const first = deliver(port);
    await held.waits();
    const { headers, body } = delivery();
    const wire = await openWire(port);
    await wire.write(headOf(headers, body.byteLength));
    expectRefused(await wire.next(), 503, "overloaded");
    expect(receiver.health()).toMatchObject({ ok: true, queued: { events: 1 } });
    held.release();
    expectAcknowledged(await first, RECEIVED);
    // The body that was refused unread still belongs to its request; the next one on the connection
    // is understood.
    await wire.write(Buffer.concat([body, rawRequest({ headers, body })]));
    expectAcknowledged(await wire.next(), RECEIVED);
    expect(receiver.health()).toMatchObject({ queued: { events: 0, bytes: 0 } });
  },
);

test.for(STACKS)(
  "the bytes that wait are bounded too, announced or not, over $name",
  async (stack) => {
    const held = heldStore();
    const bounds = { bodyLimitBytes: 2000, maxQueued: { bytes: 2000 } };
    const { receiver, port } = await serve({ store: held.store, ...bounds }, stack);
    const big = () => signalEvent({ data: { summary: "x".repeat(900) } });
    held.hold();
    const first = deliver(port, big());
    await held.waits();
    expectRefused(await deliver(port, big()), 503, "overloaded");
    const { headers, body } = delivery(big());
    const wire = await openWire(port);
    await wire.write(headOf(headers, "chunked"));
    await wire.write(`${body.byteLength.toString(16)}\r\n${String(body)}\r\n0\r\n\r\n`);
    expectRefused(await wire.next(), 503, "overloaded");
    // A small one has room.
    const second = deliver(port, { ...big(), data: {} });
    held.release();
    expectAcknowledged(await first, RECEIVED);
    expect((await second).status).toBe(200);
    expect(await receiver.inbox.stats()).toMatchObject({
      total: 2,
      queued: { events: 0, bytes: 0 },
    });
  },
);

test.for(STACKS)(
  "nothing is acknowledged, told of or handed off before it is committed, over $name",
  async (stack) => {
    const held = heldStore(sqliteOnDisk());
    const order: string[] = [];
    const onSignal: ReceiverOptions["onSignal"] = async ({ id }) => {
      order.push(`callback, ${(await receiver.inbox.get(id))?.state}`);
    };
    const { receiver, port } = await serve({ store: held.store, onSignal }, stack);
    receiver.on("accepted", () => order.push("accepted"));
    held.hold();
    const first = deliver(port).finally(() => order.push("answered"));
    await held.waits();
    await roundTrip(port);
    expect(order).toEqual([]);
    order.push("released");
    const done = nextEvent(receiver, "handedOff");
    held.release();
    expectAcknowledged(await first, RECEIVED);
    await done;
    expect(order.toSorted()).toEqual(["accepted", "answered", "callback, leased", "released"]);
    expect(order.slice(0, 2)).toEqual(["released", "accepted"]);
  },
);

test("one of twenty posts of one event at once is accepted and handed off [receiving/deduplicate]", async () => {
  let callbacks = 0;
  const { receiver, port } = await serve({
    store: sqliteOnDisk(),
    onSignal: () => (callbacks += 1),
  });
  const done = nextEvent(receiver, "handedOff");
  const event = signalEvent();
  const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(port, event)));
  const bodies = answers.map(({ body }) => body).toSorted();
  expect(bodies).toEqual([...Array<string>(19).fill(DUPLICATE), RECEIVED].toSorted());
  expect(receiver.health().deliveries).toMatchObject({ accepted: 1, duplicate: 19 });
  await done;
  expect(await receiver.inbox.stats()).toMatchObject({ total: 1, done: 1 });
  await receiver.close();
  expect(callbacks).toBe(1);
});
