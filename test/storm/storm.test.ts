import { expect, test } from "vitest";
import { SEED } from "../faults/seeded-random.js";
import { FAULTS, type FaultName } from "./faults.js";
import { runStorm } from "./run-storm.js";

/** `STORM_MINUTES` and `STORM_EVENTS` make it shorter. */
const { STORM_MINUTES: minutes = "10", STORM_EVENTS: events = "20000" } = process.env;

test(
  "a storm of faults over several machines breaks no promise",
  { timeout: 1_800_000 },
  async () => {
    const { findings, crashes } = await runStorm({
      seed: SEED,
      seconds: Number(minutes) * 60,
      events: Number(events),
      machines: 5,
      faults: Object.keys(FAULTS) as FaultName[],
      everyMs: 1500,
      report: console.log,
    });
    expect({ findings, crashes }).toEqual({ findings: [], crashes: [] });
  },
);
