import { join } from "node:path";
import Database from "better-sqlite3";
import type { Server } from "../servers/catalogue.js";

export interface Tally {
  /** Answered with 200. */
  acknowledged: number;
  /** How often the callback was called; null: there is none. */
  handedOff: number | null;
  /** Events that were in the file before. */
  before: number;
}

/**
 * Reads the file of a server that has stopped: every acknowledged event must be in it, and ours must have been handed off
 * once each. A fast server that loses something has no figures.
 *
 * @throws Error which says what is missing
 */
export function assertAllKept(folder: string, { label, keeps, isOurs }: Server, tally: Tally): void {
  if (keeps === null) return;
  const { acknowledged, handedOff, before } = tally;
  const db = new Database(join(folder, keeps.file), { readonly: true, fileMustExist: true });
  try {
    const count = (where: string): number =>
      (db.prepare(`SELECT count(*) FROM ${keeps.table} ${where}`).pluck().get() as number) - before;
    const kept = count("");
    if (kept !== acknowledged) throw new Error(`${label}: ${acknowledged} acknowledged, ${kept} in its file`);
    if (!isOurs) return;
    // As many hand-offs as events, and each event done: none had two, none had none.
    const done = count("WHERE state = 'done'");
    if (done !== acknowledged || handedOff !== acknowledged) {
      throw new Error(`${label}: ${acknowledged} acknowledged, ${handedOff} handed off, ${done} done in its file`);
    }
  } finally {
    db.close();
  }
}
