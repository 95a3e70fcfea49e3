import type { SignalData } from "../../../../kit/senders/signals/envelope.js";
import type { KnownSignalType } from "../../../../kit/senders/signals/signal-types.js";
import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type { Database } from "../../database/database.js";

/** A signal before it is published, in both languages. Publishing gives it its ids and times. */
export interface SignalDraft {
  signal_type: KnownSignalType;
  tool_id: number;
  /** Milliseconds since 1970. */
  observed_at: number;
  /** The first and the last day, `YYYY-MM-DD`. */
  period: { start: string; end: string };
  change: SignalData["change"];
  text: Record<ServiceLocale, { title: string; summary: string; evidence_summary: string }>;
}

/** Signals that are not published yet. After a restart they are published from here. */
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
  const insert = database.prepare<[number, string]>(
    "INSERT INTO due_signal (due_at, draft) VALUES (?, ?)",
  );
  const first = database.prepare<[], { due_at: number | null }>(
    "SELECT min(due_at) AS due_at FROM due_signal",
  );
  const read = database.prepare<[number], { draft: string }>(
    "SELECT draft FROM due_signal WHERE due_at = ? ORDER BY due_signal_id",
  );
  const remove = database.prepare<[number]>("DELETE FROM due_signal WHERE due_at = ?");
  const nextDueAt = (): number | null => first.get()?.due_at ?? null;
  return {
    /** Signals of one type are due together, and signals of the next type some minutes later. */
    add(drafts: readonly SignalDraft[], fromMs: number, minutesBetweenTypes: number): void {
      const types = [...new Set(drafts.map(({ signal_type }) => signal_type))];
      for (const draft of drafts) {
        const dueAt =
          fromMs + Math.round(types.indexOf(draft.signal_type) * minutesBetweenTypes * MINUTE_MS);
        insert.run(dueAt, JSON.stringify(draft));
      }
    },
    /** Returns the earliest due time, in milliseconds since 1970; null when the queue is empty. */
    nextDueAt,
    /** Removes the signals with the earliest due time from the queue and returns them. */
    takeFirst(): { draft: SignalDraft; dueAt: number }[] {
      const dueAt = nextDueAt();
      if (dueAt === null) return [];
      const drafts = read
        .all(dueAt)
        .map(({ draft }) => ({ draft: JSON.parse(draft) as SignalDraft, dueAt }));
      remove.run(dueAt);
      return drafts;
    },
  };
}
