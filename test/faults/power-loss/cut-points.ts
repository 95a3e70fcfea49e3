import type { Call } from "./read-recording.js";
import { INBOX } from "./recorder.js";
import type { Random } from "./survivors.js";

/** Moments after which the power is cut, as indexes of calls, by what is going on. */
export interface CutPoints {
  /** The file is being made. */
  making: number[];
  /** A sync is about to end: the most has been said since the last one. */
  beforeSyncs: number[];
  /** Pages were copied from the WAL into the file, and that is not synced yet. */
  checkpoints: number[];
  /** The WAL began anew, and that is not synced yet. */
  restarts: number[];
  /** Any other. */
  others: number[];
}

export function cutPointsOf(calls: readonly Call[]): CutPoints {
  const points: CutPoints = {
    making: [],
    beforeSyncs: [],
    checkpoints: [],
    restarts: [],
    others: [],
  };
  const dirty = new Set<string>();
  let isMade = false;
  for (const [at, call] of calls.entries()) {
    if (call.kind === "synced") dirty.delete(call.name);
    if (call.kind === "synced" && call.by === "signalbox") isMade = true;
    if (call.kind === "write" || call.kind === "truncate") {
      if (call.name === INBOX) dirty.add(INBOX);
      if (call.name === `${INBOX}-wal` && startOf(call) === 0) dirty.add(call.name);
    }
    const next = calls[at + 1];
    if (next === undefined || next.kind === "synced") points.beforeSyncs.push(at);
    if (!isMade) points.making.push(at);
    else if (dirty.has(INBOX)) points.checkpoints.push(at);
    else if (dirty.has(`${INBOX}-wal`)) points.restarts.push(at);
    else points.others.push(at);
  }
  return points;
}

function startOf(call: Call & { kind: "write" | "truncate" }): number {
  return call.kind === "write" ? call.offset : call.size;
}

/** So many of them, by chance but spread evenly. */
export function someOf(points: readonly number[], count: number, random: Random): number[] {
  if (points.length <= count) return [...points];
  const stride = points.length / count;
  return Array.from(
    { length: count },
    (_, index) => points[Math.floor((index + random()) * stride)] ?? 0,
  );
}
