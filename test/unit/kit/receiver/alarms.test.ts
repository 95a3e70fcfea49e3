import { expect, onTestFinished, test, vi } from "vitest";
import { PermanentFailure, type Alarm } from "../../../../src/kit/index.js";
import {
  describeSituation,
  readInboxState,
} from "../../../../src/kit/inbox/situation/situation.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import {
  createManualClock,
  signalEvent,
  testReceiver,
  type TestReceiverOptions,
} from "../../../../src/kit/testing/index.js";
import { faultyStore, mediumError } from "../inbox/faulty-store.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A Monday. */
const T0 = Date.UTC(2026, 2, 2);

interface Stage extends TestReceiverOptions {
  listener?: (alarm: Alarm) => unknown;
}

/** A receiver that listens for alarms, and what it was told. */
async function stage({ listener = () => undefined, ...options }: Stage = {}) {
  const clock = options.clock ?? createManualClock(T0);
  const store = options.store ?? memoryStore();
  const rig = await testReceiver({ ...options, store, clock });
  onTestFinished(() => rig.receiver.close({ graceMs: 0 }));
  const told: Alarm[] = [];
  const toldAt: number[] = [];
  rig.receiver.on("alarm", (alarm) => {
    told.push(alarm);
    toldAt.push(clock.now());
    return listener(alarm);
  });
  return {
    ...rig,
    clock,
    store,
    told,
    /** Each as `quiet begins`, and whole minutes since the start of the clock. */
    names: () => told.map(({ kind, phase }) => `${kind} ${phase}`),
    minuteOf: (index: number) => Math.floor(((toldAt[index] ?? NaN) - T0) / MINUTE_MS),
    refuse: () => rig.deliver(signalEvent(), { secret: "whsec_of_somebody" }),
    /** A delivery every so often, for some hours. */
    async traffic(hours: number, everyMinutes: number, deliver: () => Promise<unknown>) {
      for (let minute = 0; minute < hours * 60; minute += everyMinutes) {
        await deliver();
        await clock.advance(everyMinutes * MINUTE_MS);
      }
    },
  };
}

test("a sender that stops is quiet once, in the same words as the page, until its next event", async () => {
  const day = await stage({ alarms: { quietAfterMs: 2 * HOUR_MS } });
  await day.traffic(3, 10, () => day.deliver(signalEvent()));
  expect(day.told).toEqual([]);
  await day.clock.advance(8 * HOUR_MS);
  expect(day.names()).toEqual(["quiet begins"]);
  // Two hours after the last one, at 170 minutes, and ten looks.
  expect(day.minuteOf(0)).toBeGreaterThanOrEqual(290);
  expect(day.minuteOf(0)).toBeLessThanOrEqual(301);
  const [begun] = day.told;
  expect(begun).toEqual({
    kind: "quiet",
    phase: "begins",
    endpoint: "default",
    since: new Date(T0 + 170 * MINUTE_MS),
    text: "Quiet: no new event since 2026-03-02 02:50:00 UTC.",
    key: `default/quiet/${T0 + 170 * MINUTE_MS}`,
  });
  const { facts } = await readInboxState(day.store, "default", day.clock.now());
  expect(describeSituation(facts).problems.map(({ text }) => text)).toEqual([begun?.text]);
  expect(day.receiver.health().alarms).toMatchObject({ quiet: true, dead: false });

  await day.deliver(signalEvent());
  const after = await readInboxState(day.store, "default", day.clock.now());
  expect(after.facts.quietSince).toBeUndefined();
  await day.clock.advance(6 * MINUTE_MS);
  expect(day.names()).toEqual(["quiet begins", "quiet over"]);
  expect(day.told[1]).toEqual({ ...begun, phase: "over", text: `Over: ${begun?.text}` });
  expect(day.receiver.health().alarms).toMatchObject({ quiet: false });
});

test("a secret that was rotated at the sender alone is told, and over with the first event that fits again", async () => {
  const day = await stage();
  await day.traffic(2, 6, () => day.deliver(signalEvent()));
  await day.traffic(2, 6, day.refuse);
  expect(day.names()).toEqual(["refusing begins"]);
  expect(day.minuteOf(0)).toBeLessThan(120 + 30);
  expect(day.told[0]?.text).toBe(
    `${Math.floor((day.minuteOf(0) - 120) / 6) + 1} deliveries were refused in the last 24 h: signature_mismatch.`,
  );
  // The sender gives up: nothing is refused any more, and nothing is well.
  await day.clock.advance(30 * HOUR_MS);
  expect(day.names()).toEqual(["refusing begins"]);
  await day.deliver(signalEvent());
  await day.clock.advance(7 * MINUTE_MS);
  expect(day.names()).toEqual(["refusing begins", "refusing over"]);
});

test("no refusals are an alarm beside accepted events, at an endpoint that never had any, or of what nobody signed", async () => {
  const mixed = await stage();
  await mixed.traffic(3, 4, async () => {
    await mixed.deliver(signalEvent());
    await mixed.refuse();
  });
  const idle = await stage();
  await idle.traffic(3, 4, idle.refuse);
  const scanned = await stage();
  await scanned.deliver(signalEvent());
  await scanned.traffic(8, 4, () =>
    scanned.receiver.handle({ method: "POST", headers: {}, body: Buffer.from("{}") }),
  );
  const forged = await stage();
  await forged.deliver(signalEvent());
  await forged.traffic(8, 240, async () => {
    for (let index = 0; index < 100; index++) await forged.refuse();
  });
  for (const { told } of [mixed, idle, scanned, forged]) expect(told).toEqual([]);
});

test("a broken handler has a dead event, pauses and is behind: each is told once, and is over when it works and nothing is dead", async () => {
  let isBroken = true;
  const day = await stage({
    onSignal: ({ data }) => {
      if (data.title === "no tenant") throw new PermanentFailure();
      if (isBroken) throw new Error("connect ECONNREFUSED");
    },
  });
  await day.deliver(signalEvent({ data: { title: "no tenant" } }));
  await day.clock.advance(MINUTE_MS);
  expect(day.names()).toEqual(["dead begins"]);
  await day.traffic(3, 5, () => day.deliver(signalEvent()));
  expect(day.names()).toEqual(["dead begins", "paused begins", "behind begins"]);
  expect(day.told[1]?.text).toMatch(
    /^Hand-offs are paused since .* by `Error: connect ECONNREFUSED`/,
  );
  isBroken = false;
  const { inbox } = day.receiver;
  await inbox.retryNow((await inbox.list()).map(({ eventId }) => eventId));
  await day.clock.advance(15 * MINUTE_MS);
  expect(day.names().slice(3).toSorted()).toEqual(["behind over", "paused over"]);
  await inbox.discard((await inbox.list({ state: "dead" })).map(({ eventId }) => eventId));
  await day.clock.advance(7 * MINUTE_MS);
  expect(day.names().slice(5)).toEqual(["dead over"]);
});

test("a full disk is told although nothing can be kept of it, and a commit that failed once is not", async () => {
  const store = faultyStore();
  const day = await stage({ store });
  const setAlarm = vi.spyOn(store, "setAlarm").mockRejectedValue(mediumError());
  store.fail(mediumError());
  await day.deliver(signalEvent());
  store.fail(null);
  await day.clock.advance(10 * MINUTE_MS);
  expect(day.told).toEqual([]);
  store.fail(mediumError());
  await day.deliver(signalEvent());
  await day.traffic(1, 5, () => day.deliver(signalEvent()));
  expect(day.names()).toEqual(["store begins"]);
  expect(day.told[0]?.text).toBe("Nothing can be stored: store_failed; deliveries get 503.");
  store.fail(null);
  setAlarm.mockRestore();
  await day.deliver(signalEvent());
  await day.clock.advance(7 * MINUTE_MS);
  expect(day.names()).toEqual(["store begins", "store over"]);
});

test("a store that cannot be read is told too", async () => {
  const day = await stage();
  const stats = vi.spyOn(day.store, "stats").mockRejectedValue(mediumError());
  await day.clock.advance(3 * MINUTE_MS);
  expect(day.told).toMatchObject([{ text: "The inbox cannot be used: store_failed." }]);
  stats.mockRestore();
  await day.clock.advance(6 * MINUTE_MS);
  expect(day.names()).toEqual(["store begins", "store over"]);
});

test("a receiver that restarts neither forgets nor repeats an alarm that goes on", async () => {
  const store = memoryStore();
  const clock = createManualClock(T0);
  const alarms = { quietAfterMs: 2 * HOUR_MS };
  const first = await stage({ store, clock, alarms });
  await first.deliver(signalEvent());
  await clock.advance(3 * HOUR_MS);
  expect(first.names()).toEqual(["quiet begins"]);
  await first.receiver.close();
  const second = await stage({ store, clock, alarms });
  await clock.advance(3 * HOUR_MS);
  expect(second.told).toEqual([]);
  expect(second.receiver.health().alarms).toMatchObject({ quiet: true });
  await second.deliver(signalEvent());
  await clock.advance(7 * MINUTE_MS);
  expect(second.names()).toEqual(["quiet over"]);
  expect(second.told[0]?.key).toBe(first.told[0]?.key);
});

test("what a process that died may not have told is told again, with the same key", async () => {
  const store = memoryStore();
  const clock = createManualClock(T0);
  const options: Stage = { alarms: { quietAfterMs: HOUR_MS } };
  const hangs = await stage({
    ...options,
    store,
    clock,
    listener: () => new Promise<void>(() => undefined),
  });
  await hangs.deliver(signalEvent());
  await clock.advance(HOUR_MS + 10 * MINUTE_MS);
  expect(hangs.names()).toEqual(["quiet begins"]);
  await hangs.receiver.close();
  const next = await stage({ ...options, store, clock });
  await clock.advance(10 * MINUTE_MS);
  expect(next.told).toEqual([hangs.told[0]]);
});

test("a listener that throws or rejects is told again, and neither it nor one that hangs harms the receiver", async () => {
  let failures = 2;
  const day = await stage({
    alarms: { quietAfterMs: HOUR_MS },
    listener: async () => {
      if (failures-- > 0) throw new Error("Slack is down");
    },
  });
  const hanging = day.receiver.on("alarm", () => new Promise<void>(() => undefined));
  const throwing = day.receiver.on("alarm", () => {
    throw new Error("no pager");
  });
  await day.deliver(signalEvent());
  await day.clock.advance(HOUR_MS + 10 * MINUTE_MS);
  expect(day.names()).toEqual(["quiet begins"]);
  hanging();
  throwing();
  await day.clock.advance(30 * MINUTE_MS);
  expect(day.names()).toEqual(["quiet begins", "quiet begins", "quiet begins"]);
  expect(new Set(day.told.map(({ key }) => key)).size).toBe(1);
  expect((await day.deliver(signalEvent())).status).toBe(200);
});

test("a listener that takes longer than two minutes, beside others that fail or hang, is told the end too", async () => {
  const day = await stage({
    handoff: { maxAttempts: 1 },
    onSignal: () => Promise.reject(new PermanentFailure("no")),
  });
  day.receiver.on("alarm", () => Promise.reject(new Error("no pager")));
  day.receiver.on("alarm", () => new Promise<void>(() => undefined));
  const slow: string[] = [];
  day.receiver.on("alarm", async ({ kind, phase }) => {
    slow.push(`${kind} ${phase}`);
    await new Promise<void>((resolve) => day.clock.setTimeout(resolve, 3 * MINUTE_MS));
  });
  const event = signalEvent();
  await day.deliver(event);
  await day.clock.advance(30 * MINUTE_MS);
  expect(day.names()).toEqual(["dead begins"]);
  await day.receiver.inbox.discard(event.id);
  await day.clock.advance(30 * MINUTE_MS);
  expect(day.names()).toEqual(["dead begins", "dead over"]);
  expect(slow).toEqual(day.names());
  expect(day.receiver.health().alarms).toMatchObject({ dead: false });
});

test("without a listener and the option nothing is looked for, and after the last listener nothing more", async () => {
  const store = memoryStore();
  const alarms = vi.spyOn(store, "alarms");
  const { receiver, clock, deliver } = await testReceiver({ store });
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  await deliver(signalEvent());
  await clock.advance(10 * MINUTE_MS);
  expect(alarms).not.toHaveBeenCalled();
  expect(receiver.health().alarms).toEqual({});
  const timers = clock.pendingTimers();
  const remove = receiver.on("alarm", () => undefined);
  expect(clock.pendingTimers()).toBe(timers + 1);
  await clock.advance(10 * MINUTE_MS);
  expect(alarms).toHaveBeenCalledTimes(10);
  remove();
  await clock.advance(10 * MINUTE_MS);
  expect(alarms.mock.calls.length).toBeLessThanOrEqual(11);
});
