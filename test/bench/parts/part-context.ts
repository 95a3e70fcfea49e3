import type { Machine } from "../machine.js";
import type { BenchProcess } from "../processes/start-process.js";
import type { Server } from "../servers/servers.js";

/** What each part of a run gets. */
export interface PartContext {
  generator: BenchProcess;
  servers: readonly Server[];
  rounds: number;
  /** For each server in each round. */
  seconds: number;
  connections: number;
  machine: Machine;
  /** The folder for the servers' files. */
  under: string;
  /** Reports the latest measurement. */
  progress(text: string): void;
}

/** A value and what was measured of it, round by round. */
export interface Measured<Value, Result> {
  value: Value;
  results: Result[];
}

/**
 * Measures each value once in each round. The first one changes with each round, so that no value
 * always has the same neighbour, or a cold machine.
 */
export async function inRounds<Value, Result>(
  values: readonly Value[],
  rounds: number,
  measure: (value: Value, round: number) => Promise<Result>,
): Promise<Measured<Value, Result>[]> {
  const measured = values.map((value) => ({ value, results: [] as Result[] }));
  for (let round = 0; round < rounds; round++) {
    const from = round % measured.length;
    for (const { value, results } of [...measured.slice(from), ...measured.slice(0, from)]) {
      results.push(await measure(value, round));
    }
  }
  return measured;
}
