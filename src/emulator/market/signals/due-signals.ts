import type { Database } from "../../database/database.js";
import type { SignalDraft } from "./signal-draft.js";

/** Signals that are not published yet. A restart continues with them. */
export const DUE_SIGNAL_SCHEMA = `
CREATE TABLE due_signal (
  due_signal_id INTEGER PRIMARY KEY,
  due_at INTEGER NOT NULL,
  draft TEXT NOT NULL
) STRICT;
CREATE INDEX due_signal_by_time ON due_signal (due_at);
`;

const MINUTE_MS = 60_000;

/** The queue of signals that wait to be published. */
export function createDueSignals(database: Database) {
  const insert = database.prepare<[number, string]>("INSERT INTO due_signal (due_at, draft) VALUES (?, ?)");
  const first = database.prepare<[], { due_at: number | null }>("SELECT min(due_at) AS due_at FROM due_signal");
  const read = database.prepare<[number], { draft: string }>(
    "SELECT draft FROM due_signal WHERE due_at = ? ORDER BY due_signal_id",
  );
  const remove = database.prepare<[number]>("DELETE FROM due_signal WHERE due_at = ?");
  const nextDueAt = (): number | null => first.get()?.due_at ?? null;
  return {
    /** Signals of one type are due together, those of the next type some minutes later. */
    add(drafts: readonly SignalDraft[], fromMs: number, minutesBetweenTypes: number): void {
      const types = [...new Set(drafts.map(({ signal_type }) => signal_type))];
      for (const draft of drafts) {
        const dueAt = fromMs + Math.round(types.indexOf(draft.signal_type) * minutesBetweenTypes * MINUTE_MS);
        insert.run(dueAt, JSON.stringify(draft));
      }
    },
    /** In milliseconds since 1970; null when the queue is empty. */
    nextDueAt,
    /** Takes the signals that are due first, all of one time. */
    takeFirst(): { draft: SignalDraft; dueAt: number }[] {
      const dueAt = nextDueAt();
      if (dueAt === null) return [];
      const drafts = read.all(dueAt).map(({ draft }) => ({ draft: JSON.parse(draft) as SignalDraft, dueAt }));
      remove.run(dueAt);
      return drafts;
    },
  };
}
