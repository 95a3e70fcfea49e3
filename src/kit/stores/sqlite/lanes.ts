import type { Database } from "../../../base/sqlite/database.js";
import type { Lane, QuietTime } from "../../inbox/lane.js";
import {
  NEVER,
  type BlockingEvent,
  type EventState,
  type PlacedLane,
  type StoredEvent,
  type StoreStats,
} from "../../inbox/stored-events.js";
import { prepareBursts } from "./bursts.js";

/** The places of an event in its lane. */
export const HEAD = 1;
export const WAITING = 2;

const PLACES: readonly PlacedLane["place"][] = [null, "head", "waiting"];

/** How many lanes, or events of lanes, are looked at in one transaction. */
const TENDED_AT_ONCE = 500;

/**
 * The lanes of ordered events. Of a lane's events one is the head, which is `ready`, `leased` or
 * `dead`; the others wait, and are never due. When the head leaves, the oldest of them takes its
 * place. Only those have a row here: an event that is done has left, and one without order has none.
 */
export function prepareLanes(db: Database) {
  const inLane = "endpoint = ? AND lane = ?";
  type Place = { place: number; seq: number };
  /** The head; without one the oldest that waits. */
  const first = db.prepare<[string, Uint8Array], Place>(
    `SELECT place, seq FROM inbox_lane WHERE ${inLane} ORDER BY place, seq LIMIT 1`,
  );
  const insert = db.prepare<[string, Uint8Array, number, number]>(
    "INSERT OR REPLACE INTO inbox_lane (endpoint, lane, place, seq) VALUES (?, ?, ?, ?)",
  );
  const leave = `DELETE FROM inbox_lane WHERE ${inLane} AND place = ${HEAD} AND seq = ?`;
  // By the state of the row: a settlement that is written again may find its event replayed.
  const leaveEnded = db.prepare<[string, Uint8Array, number]>(`
    ${leave} AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.seq = inbox_lane.seq
      AND (state = 'ready' OR state = 'leased' OR (state = 'dead' AND lane_skips = 0)))`);
  const leaveDead = db.prepare<[string, Uint8Array, number]>(`
    ${leave} AND EXISTS (SELECT 1 FROM inbox WHERE inbox.seq = inbox_lane.seq AND state = 'dead')`);
  const toHead = db.prepare<[string, Uint8Array, number]>(
    `UPDATE inbox_lane SET place = ${HEAD} WHERE ${inLane} AND place = ${WAITING} AND seq = ?`,
  );
  const setDue = db.prepare<[number, number, number]>(
    "UPDATE inbox SET due_at = ?, ready_since = ? WHERE seq = ?",
  );
  type Row = { endpoint: string; lane: Buffer | null; skips: number };
  const find = db.prepare<[number], Row>(
    "SELECT endpoint, lane, lane_skips AS skips FROM inbox WHERE seq = ?",
  );
  const setLane = db.prepare<[Uint8Array | null, number | null, number]>(
    "UPDATE inbox SET lane = ?, lane_skips = ? WHERE seq = ?",
  );
  const findPlace = db
    .prepare<[string, Uint8Array, number], number>(
      `SELECT place FROM inbox_lane WHERE ${inLane} AND place IN (${HEAD}, ${WAITING}) AND seq = ?`,
    )
    .pluck();
  const nextLane = db
    .prepare<[string, Uint8Array], Buffer>(
      "SELECT lane FROM inbox_lane WHERE endpoint = ? AND lane > ? ORDER BY lane LIMIT 1",
    )
    .pluck();
  const neighbour = db.prepare<[string, Uint8Array, number, number], Place>(
    `SELECT place, seq FROM inbox_lane WHERE ${inLane} AND place = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
  );
  const some = db.prepare<[string, number], Place & { lane: Buffer }>(
    "SELECT lane, place, seq FROM inbox_lane WHERE endpoint = ? LIMIT ?",
  );
  const drop = db.prepare<[string, Uint8Array, number, number]>(
    `DELETE FROM inbox_lane WHERE ${inLane} AND place = ? AND seq = ?`,
  );
  const idOf = db.prepare<[number], string>("SELECT event_id FROM inbox WHERE seq = ?").pluck();
  const countWaiting = db
    .prepare<[string], number>(
      `SELECT count(*) FROM inbox_lane WHERE endpoint = ? AND place = ${WAITING}`,
    )
    .pluck();
  const countBehind = db
    .prepare<[string, Uint8Array], number>(
      `SELECT count(*) FROM inbox_lane WHERE ${inLane} AND place = ${WAITING}`,
    )
    .pluck();
  const blocking = db.prepare<{ endpoint: string }, BlockingEvent>(`
    SELECT event_id AS eventId, due_at AS since, (SELECT count(*) FROM inbox_lane w
      WHERE w.endpoint = @endpoint AND w.lane = h.lane AND w.place = ${WAITING}) AS count
    FROM inbox CROSS JOIN inbox_lane h
      ON h.endpoint = inbox.endpoint AND h.lane = inbox.lane AND h.place = ${HEAD} AND h.seq = inbox.seq
    WHERE inbox.endpoint = @endpoint AND state = 'dead' AND count > 0 ORDER BY inbox.seq LIMIT 1`);
  const bursts = prepareBursts(db);
  /** Where the repair of each endpoint continues. */
  const repairedTo = new Map<string, Uint8Array>();

  /** The oldest event that waits becomes the head, and is due, if there is no head. */
  function promote(endpoint: string, lane: Uint8Array, now: number): boolean {
    const next = first.get(endpoint, lane);
    if (next === undefined || next.place === HEAD) return false;
    toHead.run(endpoint, lane, next.seq);
    const { until, since } = bursts.dueTime(next.seq) ?? { until: now, since: now };
    setDue.run(Math.max(until, now), since, next.seq);
    return true;
  }

  function wait(seq: number, endpoint: string, lane: Uint8Array): void {
    insert.run(endpoint, lane, WAITING, seq);
    setDue.run(NEVER, 0, seq);
  }

  /** @param seq of a new event. @returns how many events were superseded: 1 or 0 */
  function joinBurst(
    seq: number,
    endpoint: string,
    lane: Uint8Array,
    quiet: QuietTime,
    now: number,
  ): number {
    const [head, waiting] = [HEAD, WAITING].map((at) => neighbour.get(endpoint, lane, at, seq));
    const near = (head?.seq ?? 0) > (waiting?.seq ?? 0) ? head : waiting;
    const joined = bursts.join(seq, quiet, near?.seq, now);
    if (joined === null || near === undefined) insert.run(endpoint, lane, WAITING, seq);
    else {
      drop.run(endpoint, lane, near.place, near.seq);
      insert.run(endpoint, lane, near.place, joined.newer);
      if (near.place === HEAD) setDue.run(joined.until, now, joined.newer);
    }
    promote(endpoint, lane, now);
    return joined === null ? 0 : 1;
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
      lane = next;
      const head = first.get(endpoint, lane);
      if (head !== undefined) leaveEnded.run(endpoint, lane, head.seq);
      if (promote(endpoint, lane, now)) promoted += 1;
    }
    repairedTo.set(endpoint, lane);
    return { promoted, isAtEnd: false };
  }

  function dissolve(endpoint: string, now: number) {
    const placed = some.all(endpoint, TENDED_AT_ONCE);
    for (const { lane, place, seq } of placed) {
      if (place === WAITING) setDue.run(now, now, seq);
      drop.run(endpoint, lane, place, seq);
    }
    return { promoted: placed.length, isAtEnd: placed.length < TENDED_AT_ONCE };
  }

  /**
   * To be called when an event is done or dead. @returns whether another one is the head of its
   * lane now, and due
   */
  function ended(seq: number, endpoint: string, lane: Uint8Array, now: number): boolean {
    if (leaveEnded.run(endpoint, lane, seq).changes === 0) return false;
    bursts.ended(seq);
    return promote(endpoint, lane, now);
  }

  /**
   * To be called when an event was given up by hand: the one before it in its burst takes its place,
   * unless it was done before.
   */
  function giveUp(seq: number, wasDone: boolean, now: number): void {
    const { endpoint, lane } = find.get(seq) as Row;
    if (lane === null) return;
    const before = wasDone ? undefined : bursts.givenUp(seq);
    if (before !== undefined) wait(before, endpoint, lane);
    ended(seq, endpoint, lane, now);
    promote(endpoint, lane, now);
  }

  return {
    /** Whether a new event must wait, at first. */
    mustWait: (endpoint: string, { key, burst }: Lane) =>
      burst != null || first.get(endpoint, key) !== undefined,
    /** Whether the endpoint has any lane. */
    areUsed: (endpoint: string) => some.get(endpoint, 1) !== undefined,
    /** @returns how many events were superseded */
    add(seq: number, endpoint: string, { key, burst }: Lane, place: number, now: number): number {
      if (burst != null) return joinBurst(seq, endpoint, key, burst, now);
      insert.run(endpoint, key, place, seq);
      return 0;
    },
    ended,
    earlierOf: bursts.earlierOf,
    countEarlier: bursts.countEarlier,
    /** To be called when an event is deleted. */
    deleted: bursts.ended,
    /** The same for an event whose lane is not known. */
    leave(seq: number, now: number): void {
      const { endpoint, lane } = find.get(seq) as Row;
      if (lane !== null) ended(seq, endpoint, lane, now);
    },
    giveUp,
    /** To be called when an event is erased, which may be `leased`: then it stays the head. */
    forget(seq: number, wasDone: boolean, now: number): void {
      const { endpoint, lane } = find.get(seq) as Row;
      if (lane === null) return;
      bursts.left(seq);
      drop.run(endpoint, lane, WAITING, seq);
      giveUp(seq, wasDone, now);
      setLane.run(null, null, seq);
    },
    /**
     * To be called when an event is ready again by hand: the head stays, and another one waits
     * behind it in the order of `seq`.
     *
     * @param read of an event that could not be read before
     */
    joined(seq: number, read: Lane | null, now: number): void {
      if (read !== null) setLane.run(read.key, read.skips ? 1 : 0, seq);
      bursts.left(seq);
      const { endpoint, lane } = find.get(seq) as Row;
      if (lane === null || findPlace.get(endpoint, lane, seq) === HEAD) return;
      wait(seq, endpoint, lane);
      promote(endpoint, lane, now);
    },
    /** A dead head lets the others go on. @returns whether there was one */
    unblock(endpoint: string, lane: Uint8Array, now: number): boolean {
      const head = first.get(endpoint, lane);
      if (head === undefined || leaveDead.run(endpoint, lane, head.seq).changes === 0) return false;
      promote(endpoint, lane, now);
      return true;
    },
    /** See the port. Where a head has ended, nothing could promote: an older process, for example. */
    tend(endpoint: string, ordered: boolean, now: number) {
      const tended = ordered ? repair(endpoint, now) : dissolve(endpoint, now);
      return { ...tended, waiting: tended.isAtEnd ? countWaiting.get(endpoint) : undefined };
    },
    /** What people see of it. */
    placeOf(seq: number): Pick<StoredEvent, "waitsBehind" | "heldCount" | "lane"> {
      const { endpoint, lane, skips } = find.get(seq) as Row;
      if (lane === null) return { waitsBehind: null, heldCount: 0, lane: null };
      const place = PLACES[findPlace.get(endpoint, lane, seq) ?? 0] ?? null;
      const head = place === "waiting" ? first.get(endpoint, lane) : undefined;
      const waitsBehind = head?.place === HEAD ? (idOf.get(head.seq) ?? null) : null;
      const heldCount = place === "head" ? (countBehind.get(endpoint, lane) ?? 0) : 0;
      return {
        waitsBehind,
        heldCount,
        lane: { key: lane.toString("hex"), skips: skips === 1, place },
      };
    },
    stats(endpoint: string): Pick<StoreStats, "waiting" | "blocking"> {
      const waiting = countWaiting.get(endpoint) ?? 0;
      return { waiting, blocking: waiting > 0 ? (blocking.get({ endpoint }) ?? null) : null };
    },
    /** Of an event of another store. */
    restore(
      seq: number,
      endpoint: string,
      { key, skips, place }: PlacedLane,
      state: EventState,
    ): void {
      const lane = Buffer.from(key, "hex");
      setLane.run(lane, skips ? 1 : 0, seq);
      if (place === null) return;
      // Its head may have come before it from somewhere else.
      const isTaken = first.get(endpoint, lane)?.place === HEAD;
      if (place === "head" && !isTaken) insert.run(endpoint, lane, HEAD, seq);
      else if (state !== "dead") wait(seq, endpoint, lane);
    },
  };
}

export type Lanes = ReturnType<typeof prepareLanes>;
