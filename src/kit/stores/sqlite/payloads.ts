import type { Database } from "../../../base/sqlite/database.js";
import {
  MOST_PAST_STEPS,
  type PastStep,
  type ReceivedDelivery,
} from "../../inbox/stored-events.js";
import type { PayloadSize } from "../../inbox/store.js";
import { parseReceived } from "../rows.js";

/**
 * What is deleted with the payload of an event: its body, its headers, and its past steps (G13 of
 * the port). They have tables of their own, so that a change of the event's state does not rewrite
 * them. A delivery that succeeds writes no step.
 */
export function preparePayloads(db: Database) {
  const insert = db.prepare<[number, string, Uint8Array]>(
    "INSERT INTO inbox_body (seq, received, body) VALUES (?, ?, ?)",
  );
  const findBody = db
    .prepare<[number, number], Buffer>(
      "SELECT body FROM inbox_body WHERE seq = ? AND length(body) <= ?",
    )
    .pluck();
  const findReceived = db
    .prepare<[number], string>("SELECT received FROM inbox_body WHERE seq = ?")
    .pluck();
  const dropBody = db.prepare<[number]>("DELETE FROM inbox_body WHERE seq = ?");
  const insertStep = db.prepare(`
    INSERT INTO inbox_history (seq, step, at, kind, attempts, error)
    SELECT @seq, coalesce(max(step), 0) + 1, @at, @kind, @attempts, @error FROM inbox_history WHERE seq = @seq`);
  const dropOldest = db.prepare(`
    DELETE FROM inbox_history WHERE seq = @seq
      AND step <= (SELECT max(step) FROM inbox_history WHERE seq = @seq) - ${MOST_PAST_STEPS}`);
  const findSteps = db.prepare<[number], PastStep>(
    "SELECT at, kind, attempts, error FROM inbox_history WHERE seq = ? ORDER BY step",
  );
  // A body is not read for its length, which stands in the header of its row.
  const findSizes = db.prepare<object, PayloadSize>(`
    SELECT seq, @now - due_at AS ageMs, iif(endpoint = @endpoint AND state = 'done', length(body) + length(received), 0) AS bytes
    FROM inbox_body CROSS JOIN inbox NOT INDEXED USING (seq) WHERE seq >= @from ORDER BY seq LIMIT @limit`);
  const dropSteps = db.prepare<[number]>("DELETE FROM inbox_history WHERE seq = ?");
  return {
    insert: (seq: number, received: ReceivedDelivery, body: Uint8Array) =>
      void insert.run(seq, JSON.stringify(received), body),
    findBody: (seq: number, mostBytes = Number.MAX_SAFE_INTEGER): Uint8Array | undefined =>
      findBody.get(seq, mostBytes),
    findReceived: (seq: number, receivedAt: number) =>
      parseReceived(findReceived.get(seq), receivedAt),
    addStep(seq: number, step: PastStep): void {
      insertStep.run({ ...step, seq });
      dropOldest.run({ seq });
    },
    /** The oldest step first. */
    findSteps: (seq: number): PastStep[] => findSteps.all(seq),
    sizes: (request: object) => findSizes.all(request),
    drop(seq: number): void {
      dropBody.run(seq);
      dropSteps.run(seq);
    },
  };
}
