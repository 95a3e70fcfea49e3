import { expect, test } from "vitest";
import type { SignalEvent } from "../../../src/index.js";
import { createAttempts, type LeasedEvent } from "../../../src/inbox/dispatch/attempts.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { createManualClock } from "../../../src/testing/index.js";
import { opened, T0 } from "./new-event.js";
import { startRig, type Rig } from "./receiver-rig.js";

/** Two receivers on one store, whose callbacks take a second. */
async function neighbours(): Promise<{
  clock: ReturnType<typeof createManualClock>;
  busy: Rig;
  idle: Rig;
  begun: string[][];
}> {
  const clock = createManualClock(T0);
  const inner = await opened(memoryStore(), clock);
  const begun: string[][] = [[], []];
  const start = (which: number): Promise<Rig> =>
    startRig({
      store: { ...inner, shared: true, open: async () => {}, close: async () => {} },
      clock,
      handoff: { concurrency: 4 },
      onSignal: ({ id }: SignalEvent) => {
        begun[which]!.push(id);
        return new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 1000));
      },
    });
  return { clock, busy: await start(0), idle: await start(1), begun };
}

test("of a burst an idle neighbour takes its part within two seconds, and nothing begins twice", async () => {
  const { clock, busy, begun } = await neighbours();
  await busy.deliverMany(80);
  await clock.advance(2000);
  expect(begun[1]!.length).toBeGreaterThanOrEqual(4);
  await clock.advance(18_000);
  expect(begun.flat().length).toBe(80);
  expect(new Set(begun.flat()).size).toBe(80);
  expect(Math.min(...begun.map(({ length }) => length))).toBeGreaterThanOrEqual(30);
});

test("the pace is that of a second, also when it is asked for more often", async () => {
  const clock = createManualClock(T0);
  const attempts = createAttempts(
    {
      clock,
      timeoutMs: 1000,
      handOff: () => {
        throw new Error("at once");
      },
    },
    () => {},
  );
  const paces: number[] = [];
  for (let tenth = 0; tenth < 20; tenth += 1) {
    attempts.run({ event: { attempts: 0 }, leasedAt: 0, parsed: null } as LeasedEvent);
    await clock.advance(100);
    paces.push(attempts.pace());
  }
  expect(paces.slice(9)).toEqual(Array.from({ length: 11 }, () => 10));
  await clock.advance(4000);
  expect(attempts.pace()).toBe(0);
});
