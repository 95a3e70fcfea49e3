import { DEFAULT_SENDER, MOST_PAST_STEPS, type StoredEvent } from "../../inbox/stored-events.js";
import type { Run } from "./connection.js";

/**
 * Adds events of another store; see `restore` of the port.
 *
 * @param name the schema, quoted
 */
export async function restore(
  run: Run,
  name: string,
  endpoint: string,
  events: readonly StoredEvent[],
): Promise<number> {
  // Of several events with one id the first is added.
  const byId = new Map(events.toReversed().map((event) => [event.eventId, event]));
  const rows = Array.from(byId.values(), ({ bodyHash, rawBody, received, history, ...entry }) => ({
    ...entry,
    history: history.slice(-MOST_PAST_STEPS),
    body_hash: Buffer.from(bodyHash).toString("hex"),
    body: rawBody === null ? null : Buffer.from(rawBody).toString("base64"),
    received: JSON.stringify(received),
  })).toReversed();
  const [row] = await run<{ added: number }>(
    `WITH given AS (
      SELECT *, state = 'leased' AS was_leased,
        CASE WHEN state = 'leased' THEN ${name}.now_ms() ELSE "dueAt" END AS due_at
      FROM json_to_recordset($2::json) AS e("eventId" text, type text, state text, "dueAt" bigint, attempts int, crashes int,
        "possiblyRepeated" boolean, replayed boolean, "receivedAt" bigint, "lastError" text, subtype text,
        subject text, sender text, history json, body_hash text, body text, received text)
    ), added AS (
      INSERT INTO ${name}.inbox (endpoint, event_id, type, state, due_at, queue_at, parked_at, received_at, token, owner,
        attempts, crashes, possibly_repeated, replayed, has_payload, body_hash, last_error, subtype, subject, sender)
      SELECT $1, "eventId", type, CASE WHEN was_leased THEN 'ready' ELSE state END, due_at,
        CASE WHEN state IN ('ready', 'leased') THEN due_at END,
        CASE WHEN state IN ('dead', 'quarantined') THEN due_at END, "receivedAt", 0, 0, attempts, crashes,
        "possiblyRepeated" OR was_leased, replayed, body IS NOT NULL, decode(body_hash, 'hex'), "lastError",
        subtype, subject, nullif(sender, '${DEFAULT_SENDER}')
      FROM given
      ON CONFLICT (endpoint, event_id) DO NOTHING
      RETURNING seq, event_id
    ), bodies AS (
      INSERT INTO ${name}.inbox_body (seq, received, body)
      SELECT seq, received, decode(body, 'base64') FROM added JOIN given ON "eventId" = event_id WHERE body IS NOT NULL
    ), steps AS (
      INSERT INTO ${name}.inbox_history (seq, at, kind, attempts, error)
      SELECT seq, at, kind, h.attempts, error
      FROM added JOIN given ON "eventId" = event_id,
        json_to_recordset(history) AS h(at bigint, kind text, attempts int, error text)
      WHERE body IS NOT NULL
    )
    SELECT count(*) AS added,
      CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN set_config('synchronous_commit', 'on', true) END
    FROM added`,
    [endpoint, JSON.stringify(rows)],
  );
  return row?.added ?? 0;
}
