import { expect, vi } from "vitest";
import { SEED } from "../seeded-random.js";
import { effectStorm } from "./effect-storm.js";
import { testOnPostgres } from "./open-stores.js";

const isLong = process.env["STORM"] === "long";
const SIZE = isLong
  ? { receivers: 4, events: 1000, processFaults: 12 }
  : { receivers: 2, events: 100, processFaults: 0 };

vi.setConfig({ testTimeout: isLong ? 15 * 60_000 : 90_000 });

testOnPostgres(`in a storm of lost connections and take-overs each signal has one effect (seed ${SEED})`, async () => {
  const { events } = SIZE;
  const { takeOvers, ...counts } = await effectStorm({ ...SIZE, order: "in" });
  expect(counts).toEqual({ done: events, effects: events, signals: events });
  expect(takeOvers).toBeGreaterThan(0);
});

testOnPostgres("the same storm doubles effects when the event is completed after their transaction", async () => {
  const events = isLong ? 1000 : 40;
  const { done, effects, signals } = await effectStorm({ ...SIZE, events, order: "after" });
  expect([done, signals]).toEqual([events, events]);
  expect(effects).toBeGreaterThan(events);
});
