import { expect, test } from "vitest";
import type { ClaimedEvent } from "../../../../src/kit/inbox/batch.js";
import { createSlots } from "../../../../src/kit/inbox/dispatch/claims.js";
import { PermanentFailure, RetryLater, SignalboxError } from "../../../../src/kit/index.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { hostileProxy, throwing } from "../../hostile.js";
import { turns, until } from "../../until.js";
import { faultyStore } from "./faulty-store.js";
import { T0 } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

test("a rejected event comes again after its delay, with the next attempt number", async () => {
  const rig = await startRig({ handoff: { backoff: (attempt) => attempt * 10_000 } });
  const [event] = await rig.begin(1);
  rig.calls[0]!.reject(new TypeError("no connection"));
  await turns();
  expect(await rig.entry(event.id)).toMatchObject({
    state: "ready",
    attempts: 1,
    dueAt: T0 + 10_000,
    lastError: expect.stringMatching(
      /^TypeError: no connection\n +at .*retries\.test\.ts/,
    ) as string,
    possiblyRepeated: false,
  });
  await rig.clock.advance(9999);
  expect(rig.calls.length).toBe(1);
  await rig.clock.advance(1);
  expect(rig.calls.map(({ handoff }) => handoff.attempt)).toEqual([1, 2]);
  expect(rig.calls[1]!.signal).toEqual(event);
  rig.calls[1]!.resolve();
  await turns();
  expect(await rig.entry(event.id)).toMatchObject({ state: "done", attempts: 2 });
  expect(rig.namesSeen()).toEqual(["accepted", "handoffFailed", "handedOff"]);
  expect(rig.seen[1]).toMatchObject({
    attempt: 1,
    willRetry: true,
    nextAttemptAt: new Date(T0 + 10_000),
  });
});

test("a retry after less than a second does not wait for the poll", async () => {
  const rig = await startRig({ handoff: { backoff: () => 250 } });
  await rig.begin(1);
  rig.calls[0]!.reject();
  await rig.clock.advance(249);
  expect(rig.calls.length).toBe(1);
  await rig.clock.advance(1);
  expect(rig.calls.length).toBe(2);
});

test("a PermanentFailure makes the event dead at once and keeps its payload", async () => {
  const { begin, receiver, namesSeen, seen, clock, calls } = await startRig();
  const [event] = await begin(1);
  calls[0]!.reject(new PermanentFailure("no such tenant"));
  await turns();
  expect(await receiver.inbox.get(event.id)).toMatchObject({
    state: "dead",
    attempts: 1,
    lastError: expect.stringMatching(/^PermanentFailure: no such tenant\n/) as string,
    rawBody: expect.any(Uint8Array),
  });
  expect(namesSeen()).toEqual(["accepted", "handoffFailed", "dead"]);
  expect(seen.at(-1)).toMatchObject({ eventId: event.id, attempt: 1, reason: "permanent_failure" });
  expect(seen.at(-2)).toMatchObject({ willRetry: false, nextAttemptAt: null });
  await clock.advance(10_000);
  expect(calls.length).toBe(1);
});

test("RetryLater brings the event back after its delay and uses up no attempt", async () => {
  const { deliver, calls, clock, entry } = await startRig({ handoff: { maxAttempts: 2 } });
  const event = signalEvent();
  await deliver(event);
  for (let time = 0; time < 3; time++) {
    await until(() => calls.length === time + 1);
    calls[time]!.reject(new RetryLater("queue is paused", { delayMs: 90_000 }));
    await turns();
    expect(await entry(event.id)).toMatchObject({
      state: "ready",
      attempts: 0,
      dueAt: clock.now() + 90_000,
    });
    await clock.advance(89_999);
    expect(calls.length).toBe(time + 1);
    await clock.advance(1);
  }
  expect(calls[3]!.handoff.attempt).toBe(1);
});

test("RetryLater without a sound delay waits a minute", () => {
  const delays = [undefined, -1, Number.NaN, Infinity].map(
    (delayMs) => new RetryLater("x", { delayMs }).delayMs,
  );
  expect(delays).toEqual([60_000, 60_000, 60_000, 60_000]);
});

test("the twentieth failed attempt makes the event dead", async () => {
  const { deliver, clock, seen, entry } = await startRig({
    handoff: { backoff: () => 60_000 },
    onSignal: () => Promise.reject(new Error("down")),
  });
  const event = signalEvent();
  await deliver(event);
  await clock.advance(40 * 60_000);
  const attempts = seen
    .filter(({ name }) => name === "handoffFailed")
    .map(({ attempt }) => attempt);
  expect(attempts).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(await entry(event.id)).toMatchObject({
    state: "dead",
    attempts: 20,
    lastError: expect.stringMatching(/^Error: down\n/) as string,
  });
  expect(seen.at(-1)).toMatchObject({ name: "dead", attempt: 20, reason: "attempts_exhausted" });
});

// What ends the process here is an unhandled rejection, which fails the run by itself.
test.each([
  ["a proxy", hostileProxy()],
  ["an error whose name throws", Object.defineProperty(new Error("x"), "name", throwing)],
  [
    "a RetryLater without a delay that can be read",
    Object.defineProperty(new RetryLater(), "delayMs", throwing),
  ],
])("whatever a callback throws, its event comes again: %s", async (_what, thrown) => {
  const rig = await startRig({ handoff: { backoff: () => 60_000 } });
  await rig.begin(1);
  rig.calls[0]!.reject(thrown);
  await rig.clock.advance(60_000);
  expect(rig.calls.length).toBe(2);
});

// A time that is no whole number is refused by a store with typed columns, and the event would be
// stuck.
test.each([
  ["a fraction from the backoff", { backoff: () => 1000.5 }, new Error("down")],
  ["no number from the backoff", { backoff: () => Number.NaN }, new Error("down")],
  ["infinity from the backoff", { backoff: () => Infinity }, new Error("down")],
  ["a fraction from RetryLater", {}, new RetryLater("x", { delayMs: 1000.5 })],
  ["an immense delay from RetryLater", {}, new RetryLater("x", { delayMs: 1e300 })],
  ["a retry_later of the user's own making", {}, new SignalboxError("retry_later", "x", "")],
])("every time that reaches the store is a whole number: %s", async (_what, handoff, error) => {
  const store = faultyStore();
  let times = 0;
  const rig = await startRig({
    store,
    handoff,
    onSignal: () => {
      if (times++ === 0) throw error;
    },
  });
  await rig.deliver();
  await turns();
  const delays = store.commits.flatMap(({ settlements }) =>
    settlements.map((each) => each.delayMs),
  );
  expect(delays.filter((delay) => !Number.isSafeInteger(delay))).toEqual([]);
  expect(times).toBe(1);
});

// An unhandled rejection fails the run by itself.
test.each([
  ["throws", () => mistake()],
  ["is async and rejects", async () => mistake()],
  ["returns no number", () => "1000"],
])(
  "a backoff that %s harms neither the process nor the event, and is logged",
  async (_what, backoff) => {
    const { logger, lines } = logLines();
    const rig = await startRig({ handoff: { backoff: backoff as never }, logger });
    await rig.begin(1);
    rig.calls[0]!.reject();
    await rig.clock.advance(60_000);
    expect(rig.calls.length).toBe(2);
    expect(lines.filter((line) => line.includes("handoff.backoff failed"))).toHaveLength(1);
  },
);

test("under steady overload a failed event is tried again when it is due, and not after the load", async () => {
  const rig = await startRig({ handoff: { concurrency: 1, backoff: () => 1000 } });
  const [failed] = await rig.begin(1);
  await rig.deliverMany(5);
  rig.calls[0]!.reject();
  const isTriedAgain = (): boolean =>
    rig.calls.filter(({ signal }) => signal.id === failed.id).length === 2;
  // Each round brings an event and ends one, so there are always some that wait.
  for (let round = 1; round <= 30 && !isTriedAgain(); round++) {
    await until(() => rig.calls.length > round);
    await rig.deliver();
    await rig.clock.advance(200);
    rig.calls[round]!.resolve();
  }
  expect(isTriedAgain()).toBe(true);
});

test("events of a short burst need no claim, even if one waits; under overload they are born ready behind it", async () => {
  const { calls, clock, deliverMany, entries } = await startRig({ handoff: { concurrency: 1 } });
  await deliverMany(3);
  await until(() => calls.length === 1);
  // The poll asks for due events, but others still wait for the only slot.
  await clock.advance(1000);
  const [burst] = await deliverMany(1);
  await clock.advance(100);
  const [later] = await deliverMany(1);
  const states = new Map((await entries()).map(({ eventId, state }) => [eventId, state]));
  expect([states.get(burst.id), states.get(later.id)]).toEqual(["leased", "ready"]);
});

test("the end of one lease does not end the next one of the same event", () => {
  const lease = (token: number) => ({ seq: 1, token, body: new Uint8Array(10) }) as ClaimedEvent;
  const slots = createSlots(2);
  slots.hold(lease(1));
  slots.hold(lease(2));
  slots.release(lease(1));
  expect([slots.held(), slots.isEmpty(), slots.free()]).toEqual([[lease(2)], false, 1]);
  slots.release(lease(2));
  expect([slots.held(), slots.isEmpty(), slots.free()]).toEqual([[], true, 2]);
});

function mistake(): never {
  throw new Error("a mistake in the backoff");
}
