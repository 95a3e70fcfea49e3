import type { Database } from "better-sqlite3";
import { DEFAULT_SENDER, type StoredEvent } from "../../inbox/stored-events.js";
import { preparePayloads } from "./payloads.js";

/** Adds events of another store; see `restore` of the port. */
export function createRestore(db: Database) {
  const insert = db.prepare(`
    INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, token, attempts, crashes, possibly_repeated, replayed,
      has_payload, received_at, body_hash, last_error, subtype, subject,
      sender)
    VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint, event_id) DO NOTHING`);
  const payloads = preparePayloads(db);

  function add(endpoint: string, event: StoredEvent, now: number): boolean {
    const {
      eventId,
      type,
      attempts,
      crashes,
      replayed,
      receivedAt,
      received,
      bodyHash,
      rawBody,
      lastError,
    } = event;
    const wasLeased = event.state === "leased";
    const state = wasLeased ? "ready" : event.state;
    const dueAt = wasLeased ? now : event.dueAt;
    const flags = [wasLeased || event.possiblyRepeated, replayed, rawBody !== null].map(Number);
    const since = state === "ready" ? now : 0;
    const key = [endpoint, eventId, type, state, dueAt, since, attempts, crashes];
    const facts = [
      event.subtype,
      event.subject,
      event.sender === DEFAULT_SENDER ? null : event.sender,
    ];
    const { changes, lastInsertRowid } = insert.run(
      ...key,
      ...flags,
      receivedAt,
      bodyHash,
      lastError,
      ...facts,
    );
    if (changes === 0) return false;
    const seq = Number(lastInsertRowid);
    if (rawBody === null) return true;
    payloads.insert(seq, received, rawBody);
    for (const step of event.history) payloads.addStep(seq, step);
    return true;
  }

  return db.transaction(
    (endpoint: string, events: readonly StoredEvent[], now: number) =>
      events.filter((event) => add(endpoint, event, now)).length,
  ).immediate;
}
