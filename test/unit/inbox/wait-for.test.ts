import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReceiver, PermanentFailure } from "../../../src/index.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { signalEvent } from "../../../src/testing/index.js";
import { rejectionOf } from "../signalbox-error-of.js";
import { turns, until } from "../until.js";
import { SECRET, startRig, type Rig } from "./receiver-rig.js";

// Nothing moves these but a test, so what resolves without it was driven by an event and not by a timer.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** Delivers a new signal whose callback has begun. */
async function begun(rig: Rig): Promise<string> {
  const [event] = await rig.deliverMany(1);
  await until(() => rig.calls.some(({ signal }) => signal.id === event!.id));
  return event!.id;
}

/** Whether it has settled by now, whatever is under way. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => void (settled = true);
  promise.then(note, note);
  await turns();
  return settled;
}

test("it resolves with the entry once the event is done, not before, and leaves no timer", async () => {
  const rig = await startRig();
  const id = await begun(rig);
  const waiting = rig.receiver.inbox.waitFor(id);
  expect(await isSettled(waiting)).toBe(false);
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  rig.calls[0]!.resolve();
  const entry = await waiting;
  expect(entry).toMatchObject({ eventId: id, state: "done", attempts: 1 });
  expect(JSON.parse(Buffer.from(entry.rawBody ?? []).toString())).toEqual(rig.calls[0]!.signal);
  expect(vi.getTimerCount()).toBe(0);
});

test("it resolves for an event that has not arrived yet", async () => {
  const rig = await startRig({ onSignal: () => undefined });
  const event = signalEvent();
  const waiting = rig.receiver.inbox.waitFor(event.id);
  expect(await isSettled(waiting)).toBe(false);
  await rig.deliver(event);
  expect(await waiting).toMatchObject({ state: "done" });
});

test("it resolves at once for what is in that state already, however often it is asked", async () => {
  const rig = await startRig({ onSignal: () => undefined });
  const [event] = await rig.deliverMany(1);
  const both = [rig.receiver.inbox.waitFor(event!.id), rig.receiver.inbox.waitFor(event!.id)];
  await Promise.all(both);
  expect(await rig.receiver.inbox.waitFor(event!.id, { timeoutMs: 0 })).toMatchObject({ state: "done" });
  expect(vi.getTimerCount()).toBe(0);
});

test("it reads an event only when something became of it", async () => {
  const store = memoryStore();
  const get = vi.spyOn(store, "get");
  const rig = await startRig({ store });
  const id = await begun(rig);
  const waiting = rig.receiver.inbox.waitFor(id);
  await begun(rig);
  rig.calls[1]!.resolve();
  await turns();
  rig.calls[0]!.resolve();
  await waiting;
  expect(get.mock.calls).toEqual([
    ["default", id],
    ["default", id],
  ]);
});

test("an attempt that failed is waited for as ready, and the retry after it as done", async () => {
  const rig = await startRig({ handoff: { backoff: () => 60_000 } });
  const id = await begun(rig);
  const failed = rig.receiver.inbox.waitFor(id, { state: "ready" });
  const done = rig.receiver.inbox.waitFor(id);
  rig.calls[0]!.reject(new Error("the queue is down"));
  expect(await failed).toMatchObject({ state: "ready", attempts: 1, lastError: "Error: the queue is down" });
  await rig.clock.advance(60_000);
  expect(await isSettled(done)).toBe(false);
  rig.calls[1]!.resolve();
  expect(await done).toMatchObject({ state: "done", attempts: 2 });
});

test("an event is waited for as dead or quarantined", async () => {
  const rig = await startRig();
  const id = await begun(rig);
  const dead = rig.receiver.inbox.waitFor(id, { state: "dead" });
  rig.calls[0]!.reject(new PermanentFailure("no such tenant"));
  expect(await dead).toMatchObject({ state: "dead", lastError: "PermanentFailure: no such tenant" });
  const unknown = { ...signalEvent(), type: "signal.retracted" };
  const quarantined = rig.receiver.inbox.waitFor(unknown.id, { state: "quarantined" });
  await rig.deliver(unknown);
  expect(await quarantined).toMatchObject({ state: "quarantined", lastError: "unknown_type" });
});

test("an event that dies is refused to whoever wants it done, at once and with what the callback threw", async () => {
  const rig = await startRig({ handoff: { maxAttempts: 1 } });
  const id = await begun(rig);
  const failure = rejectionOf(rig.receiver.inbox.waitFor(id));
  rig.calls[0]!.reject(new TypeError("tenant is undefined"));
  const { code, message } = await failure;
  expect(code).toBe("wait_failed");
  expect(message).toContain(
    `${id} is dead after 1 attempt, and not done. Its last error: TypeError: tenant is undefined.`,
  );
  expect(vi.getTimerCount()).toBe(0);
});

test.each([NaN, -1, Infinity, 2 ** 31, "4000"])(
  "a time of %j to wait is refused at once, not taken for 1 ms",
  async (ms) => {
    const { receiver } = await startRig();
    const refused = await rejectionOf(receiver.inbox.waitFor("evt_1", { timeoutMs: ms as number }));
    expect([refused.code, refused.message]).toEqual(["option_invalid", expect.stringContaining("timeoutMs")]);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test("what can come about by no hand-off is refused at once", async () => {
  const rig = await startRig({ onSignal: () => undefined });
  const unknown = { ...signalEvent(), type: "signal.retracted" };
  await rig.deliver(unknown);
  const [done] = await rig.deliverMany(1);
  await rig.receiver.inbox.waitFor(done!.id);
  const { inbox } = rig.receiver;
  expect((await rejectionOf(inbox.waitFor(unknown.id))).message).toMatch(
    /is quarantined after 0 attempts, and not done/,
  );
  for (const state of ["dead", "quarantined", "ready"] as const) {
    expect((await rejectionOf(inbox.waitFor(done!.id, { state }))).message).toContain(
      `is done after 1 attempt, and not ${state}`,
    );
  }
  const leased = await startRig();
  const id = await begun(leased);
  expect((await rejectionOf(leased.receiver.inbox.waitFor(id, { state: "quarantined" }))).message).toMatch(/is leased/);
});

test("past its time it tells the state, the attempts, the last error, and when the next attempt is due", async () => {
  const rig = await startRig({ handoff: { backoff: () => 60_000 } });
  const id = await begun(rig);
  rig.calls[0]!.reject(new Error("the queue is down"));
  await rig.receiver.inbox.waitFor(id, { state: "ready" });
  await rig.clock.advance(20_000);
  const waiting = rig.receiver.inbox.waitFor(id);
  const failure = rejectionOf(waiting);
  await vi.advanceTimersByTimeAsync(3999);
  expect(await isSettled(waiting)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  const { code, message } = await failure;
  expect(code).toBe("wait_failed");
  expect(message).toContain(
    `The event ${id} was not done within 4000 ms: it is ready after 1 attempt and due in 40000 ms by the receiver's clock. ` +
      "Its last error: Error: the queue is down.",
  );
  expect(vi.getTimerCount()).toBe(0);
});

test("past its time it tells of a callback that hangs, and of an event that never came", async () => {
  const rig = await startRig();
  const hanging = rejectionOf(rig.receiver.inbox.waitFor(await begun(rig), { timeoutMs: 50 }));
  const absent = rejectionOf(rig.receiver.inbox.waitFor("sig_0_0", { timeoutMs: 50 }));
  await vi.advanceTimersByTimeAsync(50);
  expect((await hanging).message).toMatch(/was not done within 50 ms: it is leased after 0 attempts\. .*callback/);
  expect((await absent).message).toMatch(/^No event with the id sig_0_0 was accepted within 50 ms\./);
});

test("moving a manual clock does not use up the time", async () => {
  const rig = await startRig({ handoff: { timeoutMs: 2 ** 30 } });
  const waiting = rig.receiver.inbox.waitFor(await begun(rig), { timeoutMs: 10 });
  await rig.clock.advance(600_000);
  rig.calls[0]!.resolve();
  expect(await waiting).toMatchObject({ state: "done" });
});

test("what another process does to the event is seen within a second", async () => {
  const rig = await startRig({ handoff: { maxAttempts: 1 } });
  const id = await begun(rig);
  const waiting = rig.receiver.inbox.waitFor(id);
  const { seq } = (await rig.entry(id))!;
  const settlement = { seq, token: 1, dueAt: 0, settledAt: 0, attempts: 1, possiblyRepeated: false, lastError: null };
  await rig.store.commit({ settlements: [{ ...settlement, state: "done" }], accepts: [], claim: null });
  expect(await isSettled(waiting)).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await waiting).toMatchObject({ state: "done" });
});

test("closing ends the wait: done by a callback that came back in its grace, else refused", async () => {
  const rig = await startRig();
  const done = rig.receiver.inbox.waitFor(await begun(rig));
  const cutShort = rejectionOf(rig.receiver.inbox.waitFor(await begun(rig)));
  const absent = rejectionOf(rig.receiver.inbox.waitFor("sig_0_0"));
  const closed = rig.receiver.close({ graceMs: 1000 });
  rig.calls[0]!.resolve();
  expect(await done).toMatchObject({ state: "done" });
  await rig.clock.advance(1000);
  await closed;
  expect((await cutShort).message).toMatch(
    /was not done before the receiver was closed: it is ready after 0 attempts\./,
  );
  expect((await absent).message).toMatch(/^No event with the id sig_0_0 was accepted before the receiver was closed\./);
  expect(vi.getTimerCount()).toBe(0);
});

test("a receiver that is not started, a store that fails and a state that nobody can wait for are refused", async () => {
  const receiver = createReceiver({ secrets: SECRET, store: memoryStore(), onSignal: () => undefined, logger: false });
  expect((await rejectionOf(receiver.inbox.waitFor("sig_0_0"))).code).toBe("store_failed");
  const rig = await startRig();
  const state = "handedOff" as "done";
  expect((await rejectionOf(rig.receiver.inbox.waitFor("sig_0_0", { state }))).code).toBe("option_invalid");
  expect(vi.getTimerCount()).toBe(0);
});
