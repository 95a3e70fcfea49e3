import { hash } from "node:crypto";
import type { Database } from "../../../base/sqlite/database.js";
import type { EventKey } from "../../inbox/store.js";
import { ERASED, ERASED_ID, SUPERSEDED } from "../../inbox/done-reasons.js";
import type { MoveOutcome } from "../../inbox/stored-events.js";
import { prepareLanes } from "./lanes.js";
import { preparePayloads } from "./payloads.js";
import type { NowAt } from "./queries.js";

export const IS_ERASED = `last_error = '${ERASED}' AND has_payload = 0`;

export const erasedId = (eventId: string): string => ERASED_ID + hash("sha256", eventId, "hex");

/** See `erase` and `wipe` of the port. */
export function prepareErase(db: Database) {
  const payloads = preparePayloads(db);
  const lanes = prepareLanes(db);
  const find = db.prepare<
    [string, string],
    { seq: number; state: string; receivedAt: number; bodyHash: Buffer; lastError: string | null }
  >(
    `SELECT seq, state, received_at AS receivedAt, body_hash AS bodyHash, last_error AS lastError
     FROM inbox WHERE endpoint = ? AND event_id = ?`,
  );
  // The settlement of a lease does not find a negative token, and then ends the event; see commit.ts.
  const toErased = db.prepare<[string, number, number]>(`
    UPDATE inbox SET event_id = ?, subject = NULL, has_payload = 0, last_error = '${ERASED}', ready_since = 0, burst_rank = NULL,
      due_at = iif(state IN ('leased', 'done'), due_at, ?), token = iif(state = 'leased', -abs(token), token),
      state = iif(state = 'leased', state, 'done')
    WHERE seq = ?`);
  const hideSuperseder = db.prepare<{ endpoint: string; eventId: string; shownId: string }>(`
    UPDATE inbox SET last_error = '${SUPERSEDED} ' || @shownId
    WHERE burst IS NOT NULL AND endpoint = @endpoint AND last_error = '${SUPERSEDED} ' || @eventId`);
  // Not in the names and numbers of their JSON, where a short text stands too.
  const dropReports = db.prepare<{ endpoint: string; hidden: string | null }>(`
    DELETE FROM inbox_report WHERE endpoint = @endpoint AND EXISTS
      (SELECT 1 FROM json_tree(report) WHERE type = 'text' AND instr(atom, @hidden))`);
  const blankAlarms = db.prepare<{ endpoint: string; hidden: string | null }>(`
    UPDATE inbox_alarm SET state = json_set(state, '$.text', '')
    WHERE endpoint = @endpoint AND instr(json_extract(state, '$.text'), @hidden)`);
  const findUnclean = db.prepare("SELECT 1 FROM inbox_unclean");
  /** What the file must not have, until it was seen to be clean. */
  const traces = new Set<string | Buffer>();

  function eraseOne(endpoint: string, eventId: string, hidden: string | null, now: number) {
    const row = find.get(endpoint, eventId);
    if (row === undefined) return "not_found";
    const { seq, state, receivedAt, bodyHash, lastError } = row;
    // Wherever a row is copied to, what is personal stands behind the first two.
    traces.add(bodyHash).add(`{"at":${receivedAt}`);
    for (const error of [lastError, ...payloads.findSteps(seq).map((step) => step.error)])
      if (error && error !== ERASED) traces.add(error.slice(0, 64));
    const isPersonal = hidden !== null && eventId.toLowerCase().includes(hidden.toLowerCase());
    const shownId = isPersonal ? erasedId(eventId) : eventId;
    toErased.run(shownId, now, seq);
    if (isPersonal) hideSuperseder.run({ endpoint, eventId, shownId });
    payloads.drop(seq);
    lanes.forget(seq, state === "done", now);
    dropReports.run({ endpoint, hidden });
    blankAlarms.run({ endpoint, hidden });
    return "moved";
  }

  return {
    traces,
    erase: (events: readonly EventKey[], hidden: string | null, nowAt: NowAt): MoveOutcome[] =>
      events.map(({ endpoint, eventId }) => eraseOne(endpoint, eventId, hidden, nowAt(endpoint))),
    isUnclean: () => findUnclean.get() !== undefined,
  };
}

export type Erasures = ReturnType<typeof prepareErase>;
