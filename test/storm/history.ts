import { openSync, readFileSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";

/** What happened, as the process that did it wrote it down at once. */
export type Happening =
  | { say: "sent"; id: string }
  | { say: "acknowledged"; id: string; duplicate: boolean }
  /** A callback. `call` counts the calls of its process. */
  | {
      say: "begun";
      process: string;
      call: number;
      id: string;
      attempt: number;
      possiblyRepeated: boolean;
      /** The ids of the earlier events of its burst. */
      earlier?: string[];
    }
  | { say: "ended"; process: string; call: number; resolved: boolean }
  /** From now on (`at`) until then the process is dead, stopped or cut off from the database. */
  | { say: "silenced"; process: string; until: number };

/**
 * `at`: milliseconds of the clock that all processes of the machine share, and that nobody sets.
 */
export type Line = Happening & { at: number };

/** A row of the inbox after the storm. */
export interface FinalRow {
  id: string;
  state: string;
  seq: number;
  /** Null: it has no order. */
  key: string | null;
  /** By a newer event of its burst. */
  superseded: boolean;
}

export const FOREVER = Number.MAX_SAFE_INTEGER;

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @returns what adds a line. A line survives kill -9 of its writer. */
export function openHistory(folder: string, name: string): (what: Happening, at?: number) => void {
  const file = openSync(join(folder, `${name}.jsonl`), "a");
  return (what, at = nowMs()) => void writeSync(file, `${JSON.stringify({ at, ...what })}\n`);
}

/** All lines of all processes, in their order. */
export function readHistory(folder: string): Line[] {
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  // What follows the last line feed is a line that kill -9 has cut.
  const lines = texts.flatMap((text) => text.split("\n").slice(0, -1));
  return lines.map((line) => JSON.parse(line) as Line).sort((a, b) => a.at - b.at);
}
