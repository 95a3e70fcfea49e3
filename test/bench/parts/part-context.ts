import type { BenchProcess } from "../processes/start-process.js";
import type { Server } from "../servers/catalogue.js";

/** What each part of a run is given. */
export interface PartContext {
  generator: BenchProcess;
  servers: readonly Server[];
  rounds: number;
  /** For each server in each round. */
  seconds: number;
  connections: number;
  /** Where files are made. */
  under: string;
  /** Says what was measured just now. */
  progress(text: string): void;
}

/** What runs first changes with each round, so that no server always has the same neighbour, or a cold machine. */
export function rotated<Value>(values: readonly Value[], round: number): Value[] {
  const from = round % values.length;
  return [...values.slice(from), ...values.slice(0, from)];
}
