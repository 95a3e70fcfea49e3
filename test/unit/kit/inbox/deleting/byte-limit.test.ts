import { expect, test } from "vitest";
import type { AcceptResult } from "../../../../../src/kit/inbox/batch.js";
import { createByteLimit } from "../../../../../src/kit/inbox/deleting/byte-limit.js";
import { memoryStore } from "../../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../../src/kit/testing/index.js";
import { batchOf, newEvent, opened, T0 } from "../new-event.js";
import { startRig } from "../receiver-rig.js";

const MINUTE = 60_000;

test("a receiver drops the payloads of what was done first, nothing else, and no id", async () => {
  const handoff = { concurrency: 10, timeoutMs: 10 * MINUTE };
  const rig = await startRig({ handoff, retention: { maxBytes: 2500 } });
  const events = await rig.begin(1);
  const gone = async (): Promise<number[]> => {
    const all = await Promise.all(events.map(({ id }) => rig.receiver.inbox.get(id)));
    return [...all.keys()].filter((index) => all[index]?.rawBody === null);
  };
  // The first one runs on.
  for (let at = 1; at < 6; at++) {
    events.push(...(await rig.begin(1)));
    rig.calls[at]?.resolve();
    await rig.clock.advance(MINUTE);
  }
  await rig.clock.advance(MINUTE);
  const before = await gone();
  expect(before.length).toBeGreaterThan(0);
  expect(before).toEqual([1, 2, 3, 4, 5].slice(0, before.length));
  const kept = await Promise.all(
    events.slice(before.length + 1).map(({ id }) => rig.receiver.inbox.get(id)),
  );
  const bytes = kept.map(
    (event) => JSON.stringify(event?.received).length + (event?.rawBody?.byteLength ?? 0),
  );
  const sum = bytes.reduce((one, other) => one + other, 0);
  expect(sum).toBeLessThanOrEqual(2500);
  expect(sum + Math.max(...bytes)).toBeGreaterThan(2500);
  expect((await rig.deliver(events[1])).body).toContain("duplicate");
});

test("of thousands the limit finds what was done first, also what is done late", async () => {
  const clock = createManualClock(T0);
  const store = await opened(memoryStore(), clock);
  const bytes = 2 + JSON.stringify(newEvent().received).length;
  let count = 0;
  const add = async (many: number, state: "leased" | "done"): Promise<AcceptResult[]> => {
    const accepts = Array.from({ length: many }, () =>
      newEvent({ eventId: `evt_${count++}`, state, body: Buffer.from("{}") }),
    );
    return (await store.commit(batchOf({ accepts }))).accepts;
  };
  const step = createByteLimit({ store, endpoint: "default", clock }, 2500 * bytes);
  const ageNow = async (): Promise<number> => {
    for (;;) {
      const { ageMs, isAtEnd } = await step();
      if (isAtEnd) return ageMs;
    }
  };
  const late = await add(600, "leased");
  for (let minute = 0; minute < 5; minute++) {
    await add(600, "done");
    await clock.advance(MINUTE);
  }
  // Four minutes have 2,400.
  expect(await ageNow()).toBe(4 * MINUTE);
  await add(600, "done");
  await clock.advance(MINUTE);
  expect(await ageNow()).toBe(4 * MINUTE);
  const settlements = late.map(({ seq, token = 0 }: { seq: number; token?: number }) => ({
    seq,
    token,
    receivedAt: T0,
    state: "done" as const,
    delayMs: 0,
    attempts: 1,
    possiblyRepeated: false,
    lastError: null,
  }));
  await store.commit(batchOf({ settlements }));
  expect(await ageNow()).toBe(4 * MINUTE);
  for (let round = 0; round < 60; round++) await ageNow();
  // Of the youngest minute 600 are late ones.
  expect(await ageNow()).toBe(3 * MINUTE);
});
