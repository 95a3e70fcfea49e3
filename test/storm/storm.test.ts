import { expect } from "vitest";
import { POSTGRES_BINARIES } from "../own-postgres.js";
import { SEED } from "../faults/seeded-random.js";
import { testWith } from "../prerequisites.js";
import { FAULTS, type FaultName } from "./faults.js";
import { runStorm, type StormConfig } from "./run-storm.js";

/** Set by npm run test:storm. */
const { STORM_MINUTES: minutes, STORM_EVENTS: events } = process.env;
const story: string[] = [];

const STORM: StormConfig =
  minutes === undefined
    ? {
        seed: SEED,
        seconds: 6,
        events: 250,
        machines: 3,
        faults: ["kill", "kill", "stop", "cut", "restart"],
        everyMs: 300,
        report: (line) => story.push(line),
      }
    : {
        seed: SEED,
        seconds: Number(minutes) * 60,
        events: Number(events),
        machines: 5,
        faults: Object.keys(FAULTS) as FaultName[],
        everyMs: 1500,
        report: console.log,
      };

testWith(POSTGRES_BINARIES !== undefined)(
  "a storm of faults over several machines breaks no promise",
  { timeout: 1_800_000 },
  async () => {
    const { findings, crashes } = await runStorm(STORM);
    expect({ findings, crashes }, story.join("\n")).toEqual({ findings: [], crashes: [] });
  },
);
