import type { Database } from "better-sqlite3";
import type { ReceivedDelivery } from "../../inbox/store.js";

/** Bodies and headers. They have a separate table, so that a change of an event's state does not rewrite them. */
export interface Payloads {
  insert(seq: number, payload: Payload): void;
  find(seq: number): Payload | undefined;
  drop(seq: number): void;
}

export interface Payload {
  received: ReceivedDelivery;
  body: Uint8Array;
}

export function preparePayloads(db: Database): Payloads {
  const insert = db.prepare<[number, string, Uint8Array]>(
    "INSERT INTO inbox_body (seq, received, body) VALUES (?, ?, ?)",
  );
  const find = db.prepare<[number], { received: string; body: Buffer; received_at: number }>(
    "SELECT received, body, received_at FROM inbox_body JOIN inbox USING (seq) WHERE seq = ?",
  );
  const drop = db.prepare<[number]>("DELETE FROM inbox_body WHERE seq = ?");
  return {
    insert: (seq, { received, body }) => void insert.run(seq, JSON.stringify(received), body),
    find(seq) {
      const row = find.get(seq);
      if (row === undefined) return undefined;
      const received = JSON.parse(row.received) as ReceivedDelivery | ReceivedDelivery["headers"];
      // Release 0.1.0 wrote the headers only.
      const isWhole = (what: typeof received): what is ReceivedDelivery => typeof what.at === "number";
      return { received: isWhole(received) ? received : { at: row.received_at, headers: received }, body: row.body };
    },
    drop: (seq) => void drop.run(seq),
  };
}
