import { hash } from "node:crypto";
import type { Database } from "../../../base/sqlite/database.js";
import type { EventKey } from "../../inbox/store.js";
import { ERASED, ERASED_ID, type MoveOutcome } from "../../inbox/stored-events.js";
import { prepareLanes } from "./lanes.js";
import { preparePayloads } from "./payloads.js";
import type { NowAt } from "./queries.js";

export const IS_ERASED = `last_error = '${ERASED}' AND has_payload = 0`;

export const erasedId = (eventId: string): string => ERASED_ID + hash("sha256", eventId, "hex");

/** So many bytes of what is deleted are looked for in the file. */
const TRACE_BYTES = 64;

/** See `erase` and `wipe` of the port. */
export function prepareErase(db: Database) {
  const payloads = preparePayloads(db);
  const lanes = prepareLanes(db);
  const find = db.prepare<
    [string, string],
    { seq: number; receivedAt: number; bodyHash: Buffer; lastError: string | null }
  >(
    `SELECT seq, received_at AS receivedAt, body_hash AS bodyHash, last_error AS lastError
     FROM inbox WHERE endpoint = ? AND event_id = ?`,
  );
  // The settlement of a lease does not find a negative token, and then ends the event; see commit.ts.
  const toErased = db.prepare<[string, number, number]>(`
    UPDATE inbox SET event_id = ?, subject = NULL, has_payload = 0, last_error = '${ERASED}', ready_since = 0,
      due_at = iif(state IN ('leased', 'done'), due_at, ?), token = iif(state = 'leased', -abs(token), token),
      state = iif(state = 'leased', state, 'done')
    WHERE seq = ?`);
  const dropReports = db.prepare<[string, string]>(
    "DELETE FROM inbox_report WHERE endpoint = ? AND instr(report, ?) > 0",
  );
  const findUnclean = db.prepare("SELECT 1 FROM inbox_unclean");
  /** The texts and bytes that the file must not have, until it was seen to be clean. */
  const traces = new Map<string, Buffer>();

  function addTrace(bytes: string | Buffer): void {
    const trace = Buffer.from(bytes as string).subarray(0, TRACE_BYTES);
    if (trace.length > 0) traces.set(trace.toString("latin1"), trace);
  }

  function eraseOne(endpoint: string, eventId: string, hidden: string | null, now: number) {
    const row = find.get(endpoint, eventId);
    if (row === undefined) return "not_found";
    const { seq, receivedAt, bodyHash, lastError } = row;
    // Wherever a row is copied to, personal values stand behind these.
    addTrace(bodyHash);
    addTrace(`{"at":${receivedAt}`);
    for (const { error } of payloads.findSteps(seq)) addTrace(error ?? "");
    if (lastError !== ERASED) addTrace(lastError ?? "");
    const isPersonal = hidden !== null && eventId.toLowerCase().includes(hidden.toLowerCase());
    toErased.run(isPersonal ? erasedId(eventId) : eventId, now, seq);
    payloads.drop(seq);
    lanes.forget(seq, now);
    return "moved";
  }

  return {
    traces,
    erase: (events: readonly EventKey[], hidden: string | null, nowAt: NowAt): MoveOutcome[] =>
      events.map(({ endpoint, eventId }) => eraseOne(endpoint, eventId, hidden, nowAt(endpoint))),
    /** Deletes the reports of refused deliveries that have the text. */
    dropReports(endpoint: string, hidden: string): void {
      addTrace(hidden);
      dropReports.run(endpoint, JSON.stringify(hidden).slice(1, -1));
    },
    isUnclean: () => findUnclean.get() !== undefined,
  };
}

export type Erasures = ReturnType<typeof prepareErase>;
