import { expect, test } from "vitest";
import { CHUNK_OVERHEAD_BYTES } from "../../../src/kit/receiver/collect-body.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "../expect-answer.js";
import { deliver, delivery, roundTrip, SECRET, serve, STACKS } from "../serve.js";
import { headOf, openWire, rawRequest } from "../wire.js";

/** Room for two pieces of 1000 bytes. */
const BOUNDS = { bodyLimitBytes: 2000, maxQueued: { bytes: 2 * (1000 + CHUNK_OVERHEAD_BYTES) } };

function bigDelivery(bytes = 1200) {
  return delivery(JSON.stringify(signalEvent()).padEnd(bytes));
}

/** Sends the head and so many bytes of a body, and waits until they are read. */
async function arrive(port: number, bytes: number, { headers, body } = bigDelivery()) {
  const wire = await openWire(port);
  await wire.write(Buffer.concat([headOf(headers, body.byteLength), body.subarray(0, bytes)]));
  await roundTrip(port);
  return { wire, rest: body.subarray(bytes) };
}

test.for(STACKS)(
  "of the bodies that arrive the oldest is evicted with 503, over $name",
  async (stack) => {
    const { receiver, port } = await serve(BOUNDS, stack);
    const oldest = await arrive(port, 1000);
    const second = await arrive(port, 1000);
    expect(oldest.wire.unread()).toBe(0);
    const third = await arrive(port, 100);
    expectRefused(await oldest.wire.next(), 503, "overloaded");
    // One that is there at once takes room that is left, and needs no more.
    expectAcknowledged(await deliver(port, delivery().body), RECEIVED);
    for (const { wire, rest } of [second, third]) {
      await wire.write(rest);
      expectAcknowledged(await wire.next(), RECEIVED);
    }
    // The rest of the refused body still belongs to its request; the next one on the connection is
    // understood.
    await oldest.wire.write(Buffer.concat([oldest.rest, rawRequest(bigDelivery())]));
    expectAcknowledged(await oldest.wire.next(), RECEIVED);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 4 });
  },
);

test.for(STACKS)("a body takes room while it arrives, and no longer, over $name", async (stack) => {
  const { port } = await serve({ ...BOUNDS, bodyLimitBytes: 1500 }, stack);
  const oldest = await arrive(port, 100);
  for (const ending of [200, 401, "gone"]) {
    const secret = ending === 401 ? "another" : SECRET;
    const { wire, rest } = await arrive(port, 1000, delivery(bigDelivery().body, { secret }));
    if (ending === "gone") wire.destroy();
    else {
      await wire.write(rest);
      expect((await wire.next()).status).toBe(ending);
    }
    await roundTrip(port);
  }
  await oldest.wire.write(oldest.rest);
  expectAcknowledged(await oldest.wire.next(), RECEIVED);
});

test.for(STACKS)(
  "each piece counts with its overhead: a body in chunks of one byte is evicted, over $name",
  async (stack) => {
    const maxQueued = { bytes: 600 * CHUNK_OVERHEAD_BYTES };
    const { receiver, port } = await serve({ maxQueued, bodyLimitBytes: 2000 }, stack);
    const chunk = (bytes: Buffer) => `${bytes.byteLength.toString(16)}\r\n${String(bytes)}\r\n`;
    for (const [chunks, status] of [
      [500, 200],
      [700, 503],
    ] as const) {
      const { headers, body } = bigDelivery();
      const bytes = Array.from({ length: chunks }, (_each, at) => chunk(body.subarray(at, at + 1)));
      const rest = chunk(body.subarray(chunks));
      const wire = await openWire(port);
      await wire.write(headOf(headers, "chunked"));
      await wire.write(`${bytes.join("")}${rest}0\r\n\r\n`);
      expect((await wire.next()).status).toBe(status);
    }
    expect(receiver.health().deliveries).toMatchObject({ accepted: 1, shed: 1 });
  },
);

test.for(STACKS)("an unsigned body takes no room, over $name", async (stack) => {
  const { port } = await serve(BOUNDS, stack);
  const signed = await arrive(port, 1000);
  const { body } = bigDelivery();
  for (let sender = 0; sender < 5; sender++) await arrive(port, 1100, { headers: {}, body });
  await signed.wire.write(signed.rest);
  expectAcknowledged(await signed.wire.next(), RECEIVED);
});
