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

test("a stream that the application has paused is read", async () => {
  const { handle, body } = await rigWith();
  expect(await handle(new PassThrough().pause().end(body))).toBe("200");
});

const piecesOf = (...pieces: Uint8Array[]) => ({ [Symbol.asyncIterator]: () => pieces.values() });

test("a body may give its pieces without promises, and empty ones", async () => {
  const { handle, body, withLength } = await rigWith();
  const empty = Buffer.alloc(0);
  const pieces = piecesOf(empty, body.subarray(0, 9), empty, body.subarray(9), empty);
  expect(await handle(pieces, withLength(body.byteLength))).toBe("200");
});

test("fewer or more bytes than were announced are not the body", async () => {
  const { handle, body, withLength } = await rigWith();
  for (const length of [body.byteLength - 1, body.byteLength + 1])
    expect(await handle(piecesOf(body), withLength(length))).toBe("500 body_unavailable");
});

test("a client that goes is not answered, however it is known", async () => {
  const { handle, clock, namesSeen } = await rigWith();
  const timers = clock.pendingTimers();
  const leaving = new AbortController();
  const calls: string[] = [];
  const never = (name: string) => () => {
    calls.push(name);
    return new Promise(() => undefined);
  };
  const endless = { next: never("next"), return: never("return") };
  const body = { [Symbol.asyncIterator]: () => endless };
  const answer = handle(body, { signal: leaving.signal });
  await until(() => calls.length === 1);
  leaving.abort();
  expect(await answer).toBe("null");
  expect(calls).toEqual(["next", "return"]);

  const failing = { next: () => Promise.reject(new Error("reset")) };
  const broken = { next: () => Promise.resolve(undefined) };
  for (const iterator of [failing, broken])
    expect(await handle({ [Symbol.asyncIterator]: () => iterator })).toBe("null");
  expect([namesSeen(), clock.pendingTimers()]).toEqual([[], timers]);
});
