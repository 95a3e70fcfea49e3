// A process that calls the verifiers in turn, and nothing else.
import { answerQuestions } from "../processes/questions.js";
import { makeContenders, type Contender } from "./contenders.js";

export interface CallsSpec {
  bodyBytes: number;
  /** For each contender, in all. */
  ms: number;
}

/** Distinct bodies, so that no call finds what the last one left. */
const BODIES = 32;
/**
 * Each contender in turn for so long, again and again: what else the machine does meanwhile meets
 * them all.
 */
const SLICE_MS = 8;

answerQuestions({
  /** @returns microseconds of CPU time for each call, by name */
  async calls({ bodyBytes, ms }: CallsSpec): Promise<Record<string, number>> {
    const sets = Array.from({ length: BODIES }, () => makeContenders(bodyBytes));
    const races = (sets[0] ?? []).map(({ name }, index) => ({
      name,
      contenders: sets.flatMap((set) => set[index] ?? []),
      cpuMicros: 0,
      calls: 0,
    }));
    const slices = Math.max(1, Math.round(ms / SLICE_MS));
    // The first ones are for V8, which compiles what is hot.
    for (let slice = -Math.ceil(slices / 4); slice < slices; slice++) {
      for (const race of races) {
        const cpuBefore = process.cpuUsage();
        const calls = await callFor(SLICE_MS, race.contenders);
        const { user, system } = process.cpuUsage(cpuBefore);
        if (slice < 0) continue;
        race.cpuMicros += user + system;
        race.calls += calls;
      }
    }
    return Object.fromEntries(races.map(({ name, cpuMicros, calls }) => [name, cpuMicros / calls]));
  },
});

/** @returns how many calls fitted into the time */
async function callFor(ms: number, contenders: readonly Contender[]): Promise<number> {
  const isAsync = contenders[0]?.isAsync === true;
  const end = performance.now() + ms;
  let calls = 0;
  do {
    // One look at the clock for all bodies.
    if (isAsync) await callEachAsync(contenders);
    else callEach(contenders);
    calls += contenders.length;
  } while (performance.now() < end);
  return calls;
}

function callEach(contenders: readonly Contender[]): void {
  for (const contender of contenders) assertSound(contender, contender.verify());
}

async function callEachAsync(contenders: readonly Contender[]): Promise<void> {
  for (const contender of contenders) assertSound(contender, await contender.verify());
}

function assertSound({ name }: Contender, outcome: unknown): void {
  if (outcome === false || outcome === undefined)
    throw new Error(`${name} refuses a sound signature`);
}
