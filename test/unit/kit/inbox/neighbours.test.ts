import { expect, test } from "vitest";
import type { SignalEvent } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
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
