import type { Database } from "../../../base/sqlite/database.js";
import type { Lane } from "../../inbox/lane.js";
import {
  NEVER,
  type BlockingEvent,
  type PlacedLane,
  type StoredEvent,
  type StoreStats,
} from "../../inbox/stored-events.js";

/** The places of an event in its lane; NULL once it has left it. */
export const HEAD = 1;
export const WAITING = 2;

const PLACES: readonly PlacedLane["place"][] = [null, "head", "waiting"];

/** How many lanes, or events of lanes, are looked at in one transaction. */
const TENDED_AT_ONCE = 500;

/**
 * The lanes of ordered events: each has a row here, which lives as long as its payload. Of a lane's
 * events one is the head, which is `ready`, `leased` or `dead`; the others wait and are never due.
 * When the head leaves, the oldest of them takes its place. An event without order has no row.
 */
export function prepareLanes(db: Database) {
  const inLane = "endpoint = ? AND lane = ? AND place";
  const isUsed = db.prepare<[string, Uint8Array], number>(
    `SELECT 1 FROM inbox_lane WHERE ${inLane} IS NOT NULL LIMIT 1`,
  );
  const hasHead = db.prepare<[string, Uint8Array], number>(
    `SELECT 1 FROM inbox_lane WHERE ${inLane} = ${HEAD} LIMIT 1`,
  );
  const insert = db.prepare<[number, string, Uint8Array, number, number | null]>(
    "INSERT OR REPLACE INTO inbox_lane (seq, endpoint, lane, skips, place) VALUES (?, ?, ?, ?, ?)",
  );
  type Row = { endpoint: string; lane: Buffer; skips: number; place: number | null };
  const find = db.prepare<[number], Row>(
    "SELECT endpoint, lane, skips, place FROM inbox_lane WHERE seq = ?",
  );
  const leave = "UPDATE inbox_lane SET place = NULL WHERE seq = ?";
  const forceOut = db.prepare<[number]>(leave);
  // By the state of the row: a settlement that is written again may find its event replayed.
  const leaveEnded = db.prepare<[number], Row>(`
    ${leave} AND place = ${HEAD} AND EXISTS (SELECT 1 FROM inbox
      WHERE seq = inbox_lane.seq AND (state = 'done' OR (state = 'dead' AND skips = 1)))
    RETURNING endpoint, lane, skips, place`);
  const setPlace = db.prepare<[number, number]>("UPDATE inbox_lane SET place = ? WHERE seq = ?");
  const promoteOne = db
    .prepare<[string, Uint8Array], number>(
      `
    UPDATE inbox_lane SET place = ${HEAD} WHERE seq =
      (SELECT seq FROM inbox_lane WHERE ${inLane} = ${WAITING} ORDER BY seq LIMIT 1)
    RETURNING seq`,
    )
    .pluck();
  const setDue = db.prepare<[number, number, number]>(
    "UPDATE inbox SET due_at = ?, ready_since = ? WHERE seq = ?",
  );
  const drop = db.prepare<[number]>("DELETE FROM inbox_lane WHERE seq = ?");
  const nextLane = db
    .prepare<[string, Uint8Array], Buffer>(
      "SELECT lane FROM inbox_lane WHERE endpoint = ? AND lane > ? AND place IS NOT NULL ORDER BY lane LIMIT 1",
    )
    .pluck();
  const endedHeads = db
    .prepare<[string, Uint8Array], number>(
      `
    SELECT seq FROM inbox_lane l WHERE ${inLane} = ${HEAD} AND NOT EXISTS (
      SELECT 1 FROM inbox i WHERE i.seq = l.seq AND (state IN ('ready', 'leased') OR (state = 'dead' AND skips = 0)))`,
    )
    .pluck();
  const placed = db
    .prepare<[string, number], number>(
      "SELECT seq FROM inbox_lane WHERE endpoint = ? AND place IS NOT NULL LIMIT ?",
    )
    .pluck();
  const deadHead = db
    .prepare<[string, Uint8Array], number>(
      `
    SELECT seq FROM inbox_lane JOIN inbox USING (seq)
    WHERE inbox_lane.endpoint = ? AND lane = ? AND place = ${HEAD} AND state = 'dead'`,
    )
    .pluck();
  const headOf = db
    .prepare<[string, Uint8Array], string>(
      `
    SELECT event_id FROM inbox_lane l JOIN inbox USING (seq)
    WHERE l.endpoint = ? AND lane = ? AND place = ${HEAD}`,
    )
    .pluck();
  const countWaiting = db
    .prepare<[string], number>(
      `SELECT count(*) FROM inbox_lane WHERE endpoint = ? AND place = ${WAITING}`,
    )
    .pluck();
  const blocking = db.prepare<{ endpoint: string }, BlockingEvent>(`
    SELECT event_id AS eventId, due_at AS since, (SELECT count(*) FROM inbox_lane w
      WHERE w.endpoint = @endpoint AND w.lane = h.lane AND w.place = ${WAITING}) AS count
    FROM inbox CROSS JOIN inbox_lane h USING (seq)
    WHERE inbox.endpoint = @endpoint AND state = 'dead' AND h.place = ${HEAD} AND count > 0 ORDER BY seq LIMIT 1`);
  /** Where the repair of each endpoint continues. */
  const repairedTo = new Map<string, Uint8Array>();

  /** The oldest event that waits becomes the head, and is due, if there is no head. */
  function promote(endpoint: string, lane: Uint8Array, now: number): boolean {
    if (hasHead.get(endpoint, lane) !== undefined) return false;
    const seq = promoteOne.get(endpoint, lane);
    if (seq === undefined) return false;
    setDue.run(now, now, seq);
    return true;
  }

  function repair(endpoint: string, now: number) {
    let promoted = 0;
    let lane = repairedTo.get(endpoint) ?? new Uint8Array();
    for (let count = 0; count < TENDED_AT_ONCE; count += 1) {
      const next = nextLane.get(endpoint, lane);
      if (next === undefined) {
        repairedTo.delete(endpoint);
        return { promoted, isAtEnd: true };
      }
      for (const seq of endedHeads.all(endpoint, next)) forceOut.run(seq);
      if (promote(endpoint, next, now)) promoted += 1;
      lane = next;
    }
    repairedTo.set(endpoint, lane);
    return { promoted, isAtEnd: false };
  }

  function dissolve(endpoint: string, now: number) {
    const seqs = placed.all(endpoint, TENDED_AT_ONCE);
    for (const seq of seqs) {
      if (find.get(seq)?.place === WAITING) setDue.run(now, now, seq);
      drop.run(seq);
    }
    return { promoted: seqs.length, isAtEnd: seqs.length < TENDED_AT_ONCE };
  }

  return {
    isUsed: (endpoint: string, { key }: Lane) => isUsed.get(endpoint, key) !== undefined,
    /** Whether the endpoint has any lane. */
    areUsed: (endpoint: string) => placed.get(endpoint, 1) !== undefined,
    has: (seq: number) => find.get(seq) !== undefined,
    /** @param place null for an event that is done, and may be replayed */
    add: (seq: number, endpoint: string, { key, skips }: Lane, place: number | null) =>
      void insert.run(seq, endpoint, key, skips ? 1 : 0, place),
    drop: (seq: number) => void drop.run(seq),
    /** What people see of it. */
    placeOf(seq: number): Pick<StoredEvent, "waitsBehind" | "lane"> {
      const row = find.get(seq);
      if (row === undefined) return { waitsBehind: null, lane: null };
      const { endpoint, lane: key, skips } = row;
      const place = PLACES[row.place ?? 0] ?? null;
      const waitsBehind = place === "waiting" ? (headOf.get(endpoint, key) ?? null) : null;
      return { waitsBehind, lane: { key: key.toString("hex"), skips: skips === 1, place } };
    },
    stats(endpoint: string): Pick<StoreStats, "waiting" | "blocking"> {
      const waiting = countWaiting.get(endpoint) ?? 0;
      return { waiting, blocking: waiting > 0 ? (blocking.get({ endpoint }) ?? null) : null };
    },
    /** Of an event of another store. */
    restore(seq: number, endpoint: string, { key, skips, place }: PlacedLane): void {
      const lane = Buffer.from(key, "hex");
      // Its head may have come before it from somewhere else.
      const isTaken = place === "head" && hasHead.get(endpoint, lane) !== undefined;
      const number = isTaken ? WAITING : PLACES.indexOf(place);
      insert.run(seq, endpoint, lane, skips ? 1 : 0, number || null);
      if (number === WAITING) setDue.run(NEVER, 0, seq);
    },
    /**
     * To be called when an event is done or dead. @returns whether another one is the head of its
     * lane now, and due
     */
    ended(seq: number, now: number): boolean {
      const left = leaveEnded.get(seq);
      return left !== undefined && promote(left.endpoint, left.lane, now);
    },
    /**
     * To be called when an event is ready again by hand: the head stays, and another one waits
     * behind it in the order of `seq`.
     */
    joined(seq: number, now: number): void {
      const row = find.get(seq);
      if (row === undefined || row.place === HEAD) return;
      setPlace.run(WAITING, seq);
      setDue.run(NEVER, 0, seq);
      promote(row.endpoint, row.lane, now);
    },
    /** A dead head lets the others go on. @returns whether there was one */
    unblock(endpoint: string, key: Uint8Array, now: number): boolean {
      const seq = deadHead.get(endpoint, key);
      if (seq === undefined) return false;
      forceOut.run(seq);
      promote(endpoint, key, now);
      return true;
    },
    /** See the port. Where a head has ended, nothing could promote: an older process, for example. */
    tend(endpoint: string, ordered: boolean, now: number): { promoted: number; isAtEnd: boolean } {
      return ordered ? repair(endpoint, now) : dissolve(endpoint, now);
    },
  };
}

export type Lanes = ReturnType<typeof prepareLanes>;
