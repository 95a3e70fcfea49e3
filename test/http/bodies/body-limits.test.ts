import { expect, test } from "vitest";
import { expectAcknowledged, expectRefused, RECEIVED } from "../expect-answer.js";
import { DIFFERENCES } from "../frameworks.js";
import { deliver, delivery, nextEvent, roundTrip, serve, STACKS, stacksExcept } from "../serve.js";
import { watchedClock } from "../watched-clock.js";
import { headOf, openWire, rawRequest, type Wire } from "../wire.js";

const READING_ON = stacksExcept(DIFFERENCES.closesWhileClientSends);

const BODY_TIMEOUT_MS = 8000;
const MEBIBYTE = Buffer.alloc(1024 * 1024, "x");

async function serveSlowly(stack: (typeof STACKS)[number]) {
  const clock = watchedClock();
  const { receiver, port } = await serve({ clock, bodyTimeoutMs: BODY_TIMEOUT_MS }, stack);
  return { clock, receiver, port };
}

/**
 * All at once, since the receiver holds a refused connection open for a second. Signed and
 * unsigned, since their bodies are read in two ways.
 */
async function onEveryStack(
  run: (stack: (typeof STACKS)[number], headers: Record<string, string>) => Promise<void>,
): Promise<void> {
  await Promise.all(STACKS.flatMap((stack) => [run(stack, delivery().headers), run(stack, {})]));
}

/** Sends the head and the first byte of a body. */
async function begin(wire: Wire, { headers, body }: ReturnType<typeof delivery>): Promise<Buffer> {
  await wire.write(Buffer.concat([headOf(headers, body.byteLength), body.subarray(0, 1)]));
  return body.subarray(1);
}

test.for(STACKS)(
  "a body that dribbles in within its time is received, over $name",
  async (stack) => {
    const { clock, port } = await serveSlowly(stack);
    const wire = await openWire(port);
    let rest = await begin(wire, delivery());
    await clock.armed(BODY_TIMEOUT_MS);
    for (let second = 1; second < 8; second++) {
      await clock.advance(1000);
      await wire.write(rest.subarray(0, 50));
      rest = rest.subarray(50);
    }
    await clock.advance(999);
    await wire.write(rest);
    expectAcknowledged(await wire.next(), RECEIVED);
    // One timer serves all bodies: past this it is set anew by the next one.
    await clock.advance(BODY_TIMEOUT_MS);
    // Its time is its own: the next body has as much again.
    const next = await begin(wire, delivery());
    await clock.armed(BODY_TIMEOUT_MS);
    await clock.advance(BODY_TIMEOUT_MS - 1);
    await wire.write(next);
    expectAcknowledged(await wire.next(), RECEIVED);
  },
);

test("a body past its time gets 408 and the connection is closed", async () => {
  await onEveryStack(async (stack, headers) => {
    const { clock, receiver, port } = await serveSlowly(stack);
    const wire = await openWire(port);
    await begin(wire, { ...delivery(), headers });
    await clock.armed(BODY_TIMEOUT_MS);
    await clock.advance(BODY_TIMEOUT_MS - 1);
    expect(receiver.health().deliveries.rejected).toBe(0);
    await clock.advance(1);
    const answer = await wire.next();
    expectRefused(answer, 408, "body_timeout");
    expect(answer.headers["connection"]).toBe("close");
    expect(await wire.closed).toBe("end");
  });
});

test.for(STACKS)(
  "a delivery that is pipelined behind a 408 is not processed, over $name",
  async (stack) => {
    const { clock, receiver, port } = await serveSlowly(stack);
    const wire = await openWire(port);
    const rest = await begin(wire, delivery());
    await clock.armed(BODY_TIMEOUT_MS);
    await clock.advance(BODY_TIMEOUT_MS);
    const { headers, body } = delivery();
    await wire.write(Buffer.concat([rest, rawRequest({ headers, body })]));
    expectRefused(await wire.next(), 408, "body_timeout");
    await wire.closed;
    expect(wire.unread()).toBe(0);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 0 });
  },
);

test("a length past the limit that is announced, or reached in chunks, gets 413 before the end of the body", async () => {
  await onEveryStack(async (stack, headers) => {
    const { receiver, port } = await serve({ bodyLimitBytes: 2000 }, stack);
    const chunks = `7d0\r\n${"x".repeat(2000)}\r\n1\r\nx\r\n`;
    for (const [length, body] of [
      [2001, ""],
      ["chunked", chunks],
    ] as const) {
      const wire = await openWire(port);
      await wire.write(Buffer.concat([headOf(headers, length), Buffer.from(body)]));
      const answer = await wire.next();
      expectRefused(answer, 413, "body_too_large");
      expect(answer.headers["connection"]).toBe("close");
      expect(await wire.closed).toBe("end");
    }
    expectAcknowledged(await deliver(port), RECEIVED);
    expect(await receiver.inbox.stats()).toMatchObject({ total: 1 });
  });
});

test.for(READING_ON)(
  "a client that looks only when it has sent everything finds its 413, over $name",
  async (stack) => {
    const { receiver, port } = await serve({ bodyLimitBytes: 2000 }, stack);
    for (const headers of [delivery().headers, {}]) {
      const rejected = nextEvent(receiver, "rejected");
      const wire = await openWire(port);
      wire.pause();
      await wire.write(headOf(headers, 500_000));
      await rejected;
      for (let part = 0; part < 5; part++) {
        await roundTrip(port);
        await wire.write(MEBIBYTE.subarray(0, 100_000));
      }
      wire.resume();
      expectRefused(await wire.next(), 413, "body_too_large");
      expect(await wire.closed).toBe("end");
    }
  },
);

test.for(READING_ON)(
  "a client in the middle of a flood gets its 413, over $name",
  async (stack) => {
    const { port } = await serve({ bodyLimitBytes: 2000 }, stack);
    for (const headers of [delivery().headers, {}]) {
      const wire = await openWire(port);
      await wire.write(headOf(headers, 64 * MEBIBYTE.byteLength));
      const over = new AbortController();
      void wire.closed.then(() => over.abort());
      const answer = wire.next().finally(() => over.abort());
      let sent = 0;
      for (; sent < 64 && !over.signal.aborted; sent++) await wire.write(MEBIBYTE);
      expectRefused(await answer, 413, "body_too_large");
      expect(sent).toBeLessThan(64);
    }
    expectAcknowledged(await deliver(port), RECEIVED);
  },
);
