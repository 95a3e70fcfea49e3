import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "../open-sqlite.js";
import type { EventState } from "../../src/kit/index.js";
import { tempFolder } from "../unit/temp-folder.js";

export interface Row {
  event_id: string;
  state: EventState;
  attempts: number;
  crashes: number;
}

/** Where one test keeps its files. */
export function inboxFiles(): { db: string; log: string } {
  const folder = tempFolder();
  return { db: join(folder, "inbox.db"), log: join(folder, "begun.log") };
}

/** What a reader of its own finds in the file, beside the receivers: what is committed. */
export function readRows(db: string): Row[] {
  const reader = openSqlite(db, { fileMustExist: true, timeout: 5000 });
  const rows = reader.prepare<[], Row>(
    "SELECT event_id, state, attempts, crashes FROM inbox ORDER BY seq",
  );
  try {
    return rows.all();
  } finally {
    reader.close();
  }
}

export interface Begun {
  id: string;
  possiblyRepeated: boolean;
  attempt: number;
}

/** The callbacks that ever began, in their order, over all processes. */
export function readLog(log: string): Begun[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [deliveryKey = "", possiblyRepeated, attempt] = line.split(" ");
    return {
      id: deliveryKey.replace("default/", ""),
      possiblyRepeated: possiblyRepeated === "true",
      attempt: Number(attempt),
    };
  });
}

/** Ids that were handed off again, without a word to the callback that it may be a repeat. */
export function unflaggedRepeats(begun: readonly Begun[]): string[] {
  const seen = new Set<string>();
  return begun.flatMap(({ id, possiblyRepeated }) => {
    const isRepeat = seen.has(id);
    seen.add(id);
    return isRepeat && !possiblyRepeated ? [id] : [];
  });
}
