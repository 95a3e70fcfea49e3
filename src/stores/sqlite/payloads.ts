import type { Database } from "better-sqlite3";
import { withoutPayload } from "../../inbox/store.js";
import type { ReceivedDelivery } from "../../inbox/stored-events.js";

/** Bodies and headers. They have a separate table, so that a change of an event's state does not rewrite them. */
export interface Payloads {
  insert(seq: number, received: ReceivedDelivery, body: Uint8Array): void;
  findBody(seq: number): Uint8Array | undefined;
  /** For the hand-off, which a damaged `received` does not stop. */
  findForHandOff(seq: number): { body: Uint8Array; traceParent: string | null } | undefined;
  /** @param receivedAt the result's `at` for a row whose `received` is missing, is damaged, or was written by signalbox 0.1.0 */
  findReceived(seq: number, receivedAt: number): ReceivedDelivery;
  drop(seq: number): void;
}

export function preparePayloads(db: Database): Payloads {
  const insert = db.prepare<[number, string, Uint8Array]>(
    "INSERT INTO inbox_body (seq, received, body) VALUES (?, ?, ?)",
  );
  const findBody = db.prepare<[number], Buffer>("SELECT body FROM inbox_body WHERE seq = ?").pluck();
  const findForHandOff = db.prepare<[number], { body: Buffer; traceParent: string | null }>(`
    SELECT body, CASE WHEN json_valid(received) THEN received ->> '$.traceParent' END AS traceParent
    FROM inbox_body WHERE seq = ?`);
  const findReceived = db.prepare<[number], string>("SELECT received FROM inbox_body WHERE seq = ?").pluck();
  const drop = db.prepare<[number]>("DELETE FROM inbox_body WHERE seq = ?");
  return {
    insert: (seq, received, body) => void insert.run(seq, JSON.stringify(received), body),
    findBody: (seq) => findBody.get(seq),
    findForHandOff: (seq) => findForHandOff.get(seq),
    findReceived(seq, receivedAt) {
      const found = parseObject(findReceived.get(seq));
      if (found === null) return withoutPayload(receivedAt);
      // Signalbox 0.1.0 wrote only the headers.
      const isWhole = (value: typeof found): value is ReceivedDelivery => typeof value.at === "number";
      return isWhole(found) ? found : { at: receivedAt, headers: found };
    },
    drop: (seq) => void drop.run(seq),
  };
}

function parseObject(text: string | undefined): ReceivedDelivery | ReceivedDelivery["headers"] | null {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return typeof value === "object" ? (value as ReceivedDelivery | null) : null;
  } catch {
    return null;
  }
}
