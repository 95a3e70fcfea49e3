import type { Call } from "./read-recording.js";

/**
 * How many of a process's own syncs of the WAL ended while another one ran that had started later,
 * or earlier.
 */
export interface Overlaps {
  inOrder: number;
  reversed: number;
}

/** @returns those of each process of the recording, in their order */
export function overlapsOf(calls: readonly Call[]): Overlaps[] {
  const processes: Overlaps[] = [];
  let running: number[] = [];
  for (const call of calls) {
    if (call.kind !== "sync" && call.kind !== "synced" && call.kind !== "sync failed") continue;
    // Each process counts its syncs from 0, and those that it was killed in have no end.
    if (call.kind === "sync" && call.number === 0) {
      processes.push({ inOrder: 0, reversed: 0 });
      running = [];
    }
    if (call.by !== "signalbox" || !call.name.endsWith("-wal")) continue;
    if (call.kind === "sync") {
      running.push(call.number);
      continue;
    }
    running = running.filter((number) => number !== call.number);
    const overlaps = processes.at(-1) as Overlaps;
    if (running.some((number) => number > call.number)) overlaps.inOrder += 1;
    if (running.some((number) => number < call.number)) overlaps.reversed += 1;
  }
  return processes;
}
