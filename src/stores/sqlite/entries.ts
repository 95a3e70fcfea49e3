import type { InboxEntry } from "../../inbox/stored-events.js";

export interface EntryRow extends Omit<InboxEntry, "possiblyRepeated" | "replayed"> {
  possiblyRepeated: number;
  replayed: number;
}

/** The columns of an entry. */
export const ENTRY = `seq, endpoint, event_id AS eventId, type, state, due_at AS dueAt, attempts, crashes,
  possibly_repeated AS possiblyRepeated, replayed, received_at AS receivedAt, last_error AS lastError,
  signal_type AS signalType, product`;

export function entryOf(row: EntryRow): InboxEntry {
  return { ...row, possiblyRepeated: row.possiblyRepeated === 1, replayed: row.replayed === 1 };
}
