import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { DeliveryRequest } from "../../../../src/kit/index.js";
import { until } from "../../until.js";
import { codeOf, startRig } from "../inbox/receiver-rig.js";

async function rigWith() {
  const rig = await startRig();
  const request = rig.signed();
  const handle = async (body: unknown, more: Partial<DeliveryRequest> = {}): Promise<string> =>
    codeOf(await rig.receiver.handle({ ...request, ...more, body } as DeliveryRequest));
  const withLength = (length: number) => ({
    headers: { ...request.headers, "Content-Length": String(length) },
  });
  return { ...rig, body: request.body, handle, withLength };
}

/**
 * Gives these pieces, and then nothing more until the test ends. Records what the collection does
 * with it.
 */
function endless(...pieces: unknown[]) {
  const calls: string[] = [];
  const iterator = {
    next() {
      calls.push("next");
      const value = pieces.shift();
      return value === undefined
        ? new Promise(() => undefined)
        : Promise.resolve({ done: false, value });
    },
    return() {
      calls.push("return");
      return new Promise(() => undefined);
    },
  };
  return { calls, [Symbol.asyncIterator]: () => iterator };
}

/** Every piece is in the same buffer, as a runtime with a pool of buffers may do it. */
async function* reusing(body: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(pieceBytes);
  for (let at = 0; at < body.byteLength; at += pieceBytes) {
    const piece = buffer.subarray(0, Math.min(pieceBytes, body.byteLength - at));
    piece.set(body.subarray(at, at + pieceBytes));
    yield piece;
    buffer.fill("x");
  }
}

test("a body may give its pieces without promises", async () => {
  const { handle, body } = await rigWith();
  const iterator = [body.subarray(0, 9), body.subarray(9)].values();
  expect(await handle({ [Symbol.asyncIterator]: () => iterator })).toBe("200");
});

test("a stream that the application has paused is read", async () => {
  const { handle, body } = await rigWith();
  expect(await handle(new PassThrough().pause().end(body))).toBe("200");
});

test("empty pieces beside the whole body change nothing", async () => {
  const { handle, body, withLength } = await rigWith();
  const iterator = [Buffer.alloc(0), body, Buffer.alloc(0)].values();
  expect(
    await handle({ [Symbol.asyncIterator]: () => iterator }, withLength(body.byteLength)),
  ).toBe("200");
});

test("fewer or more bytes than were announced are not the body", async () => {
  const { handle, body, withLength } = await rigWith();
  for (const length of [body.byteLength - 1, body.byteLength + 1]) {
    expect(await handle(reusing(body, 100), withLength(length))).toBe("500 body_unavailable");
  }
});

test("an iterable that is in use is no body: the adapter is at fault, not the signature", async () => {
  const { handle } = await rigWith();
  const locked = () => {
    throw new TypeError("locked");
  };
  expect(await handle({ [Symbol.asyncIterator]: locked })).toBe("500 body_unavailable");
});

test("a client that goes is not answered, however it is known", async () => {
  const { handle, clock, namesSeen } = await rigWith();
  const timers = clock.pendingTimers();
  expect(await handle(endless(), { signal: AbortSignal.abort() })).toBe("null");

  const leaving = new AbortController();
  const body = endless(Buffer.from("x"));
  const answer = handle(body, { signal: leaving.signal });
  await until(() => body.calls.length === 2);
  leaving.abort();
  expect(await answer).toBe("null");
  expect(body.calls.at(-1)).toBe("return");

  const failing = { next: () => Promise.reject(new Error("reset")) };
  expect(await handle({ [Symbol.asyncIterator]: () => failing })).toBe("null");

  const broken = { next: () => Promise.resolve(undefined) };
  expect(await handle({ [Symbol.asyncIterator]: () => broken })).toBe("null");

  const stream = new PassThrough();
  const cut = handle(stream);
  stream.destroy(new Error("reset"));
  expect(await cut).toBe("null");
  expect([namesSeen(), clock.pendingTimers()]).toEqual([[], timers]);
});
