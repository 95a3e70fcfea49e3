import type { Database } from "better-sqlite3";
import {
  CLOCK_SLACK_MS,
  CRASH_LOOP,
  MAX_CRASHES,
  SUSPECT_CRASHES,
  type AcceptResult,
  type Batch,
  type BatchResult,
  type ClaimedEvent,
  type ClaimRequest,
  type ClaimResult,
  type CrashedEvent,
  type NewEvent,
  type Settlement,
  type TakeOverRequest,
  type TakeOverResult,
} from "../../inbox/store.js";
import { prepareActivity, type Counts } from "./activity.js";
import { prepareHistory } from "./history.js";
import { preparePayloads } from "./payloads.js";
import { writeNothing } from "./schema.js";

/** The writes of a receiver. `now` is the present by the clock of its endpoint. */
export interface Committer {
  /** Applies a batch in one transaction. If it throws better-sqlite3's error, nothing was applied. */
  commit(batch: Batch, now: number): BatchResult;
  /** @returns the empty result of a claim, without a transaction; null when one is needed, as an event may be due */
  claimNothing(request: ClaimRequest, endpoint: string, now: number): ClaimResult | null;
  takeOver(request: TakeOverRequest, now: number): TakeOverResult;
}

interface CrashedRow {
  seq: number;
  event_id: string;
  type: string;
  attempts: number;
  state: string;
}

interface ClaimedRow {
  seq: number;
  event_id: string;
  type: string;
  token: number;
  attempts: number;
  crashes: number;
  possibly_repeated: number;
  replayed: number;
  received_at: number;
}

const NOTHING: Counts = { accepted: 0, handedOff: 0, failed: 0 };

/** When the clock was set back, each claim corrects at most this many events, so that a backlog does not block the event loop. */
const MOVED_AT_ONCE = 500;

/** Whether `other` writes the same values as `first`, into the row whose `seq` is larger by `distance`. */
function isAlike(first: Settlement, other: Settlement | undefined, distance: number): boolean {
  return (
    other !== undefined &&
    other.seq === first.seq + distance &&
    other.state === first.state &&
    other.token === first.token &&
    other.delayMs === first.delayMs &&
    other.attempts === first.attempts &&
    other.possiblyRepeated === first.possiblyRepeated &&
    other.lastError === first.lastError
  );
}

export function createCommitter(db: Database, shared: boolean): Committer {
  const insert = db.prepare(`
    INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, token, received_at, body_hash, last_error,
      signal_type, product)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint, event_id) DO NOTHING`);
  const payloads = preparePayloads(db);
  const history = prepareHistory(db);
  const activity = prepareActivity(db);
  /** What the running commit has counted. */
  const counts: Counts = { ...NOTHING };
  const findKey = db.prepare<[string, string], { seq: number; body_hash: Buffer }>(
    "SELECT seq, body_hash FROM inbox WHERE endpoint = ? AND event_id = ?",
  );
  const settleSql = `
    UPDATE inbox SET state = ?, due_at = ?, ready_since = ?, attempts = ?, possibly_repeated = ?,
      last_error = coalesce(?, last_error)
    WHERE seq BETWEEN ? AND ? AND token = ? AND state = 'leased'`;
  const settleRange = db.prepare(settleSql);
  const settleFailed = db.prepare<unknown[], number>(`${settleSql} RETURNING seq`).pluck();
  const findToken = db.prepare<[number], number>("SELECT token FROM inbox WHERE seq = ?").pluck();
  const due = "endpoint = ? AND state = 'ready' AND due_at <= ?";
  const order = "ORDER BY due_at, seq LIMIT";
  const findFirst = db.prepare<[string, number], number>(`SELECT crashes FROM inbox WHERE ${due} ${order} 1`).pluck();
  const findOthers = db
    .prepare<[string, number, number], number>(
      `SELECT seq FROM inbox WHERE ${due} AND crashes < ${SUSPECT_CRASHES} ${order} ?`,
    )
    .pluck();
  const findSuspects = db
    .prepare<[string, number, number], number>(
      `SELECT seq FROM inbox INDEXED BY inbox_suspect WHERE ${due} AND crashes >= ${SUSPECT_CRASHES} ${order} ?`,
    )
    .pluck();
  const leaseOne = db.prepare<[number, number], ClaimedRow>(`
    UPDATE inbox SET state = 'leased', due_at = ?, token = token + 1 WHERE seq = ?
    RETURNING seq, event_id, type, token, attempts, crashes, possibly_repeated, replayed, received_at`);
  const nextDue = db
    .prepare<[string, number], number | null>(
      "SELECT min(due_at) FROM inbox WHERE endpoint = ? AND state = 'ready' AND due_at > ?",
    )
    .pluck();

  const ahead = "SELECT seq FROM inbox WHERE endpoint = ? AND state = 'ready' AND ready_since > ?";
  const findAhead = db.prepare<[string, number], number>(`${ahead} LIMIT 1`).pluck();
  const moveEarlier = db.prepare(`
    UPDATE inbox SET due_at = due_at - (ready_since - ?), ready_since = ?
    WHERE seq IN (${ahead} LIMIT ${MOVED_AT_ONCE})`);

  const findLeased = db
    .prepare<[string], number>("SELECT seq FROM inbox WHERE endpoint = ? AND state = 'leased'")
    .pluck();
  const findExpired = db
    .prepare<[string, number, number], number>(
      "SELECT seq FROM inbox WHERE endpoint = ? AND state = 'leased' AND due_at <= ? LIMIT ?",
    )
    .pluck();
  // The token is increased, so that a late settlement of the old lease changes nothing.
  const free = db.prepare(
    "UPDATE inbox SET state = 'ready', due_at = ?, ready_since = ?, token = token + 1 WHERE seq = ?",
  );
  const freeCrashed = db.prepare<[number, number, number], CrashedRow>(`
    UPDATE inbox SET due_at = ?, ready_since = ?, token = token + 1, crashes = crashes + 1, possibly_repeated = 1,
      state = iif(crashes + 1 >= ${MAX_CRASHES}, 'dead', 'ready'),
      last_error = iif(crashes + 1 >= ${MAX_CRASHES}, '${CRASH_LOOP}', last_error)
    WHERE seq = ? RETURNING seq, event_id, type, attempts, state`);

  function accept(event: NewEvent, endpoint: string, now: number): AcceptResult {
    const { eventId, type, state, leaseMs, received, bodyHash, body, reason, signalType, product } = event;
    const token = state === "leased" ? 1 : 0;
    const readySince = state === "ready" ? now : 0;
    const dueAt = now + (leaseMs ?? 0);
    const { at } = received;
    const values = [
      endpoint,
      eventId,
      type,
      state,
      dueAt,
      readySince,
      token,
      at,
      bodyHash,
      reason,
      signalType,
      product,
    ];
    const inserted = insert.run(...values);
    if (inserted.changes === 0) {
      const original = findKey.get(endpoint, eventId);
      if (original === undefined) throw new Error("an event that is in the inbox cannot be found");
      return { status: "duplicate", seq: original.seq, sameBody: original.body_hash.equals(bodyHash) };
    }
    const seq = Number(inserted.lastInsertRowid);
    payloads.insert(seq, received, body);
    counts.accepted += 1;
    return { status: "accepted", seq, token };
  }

  /** Under load most settlements write the same values to consecutive events. One statement writes all of them. */
  function settle(settlements: readonly Settlement[], now: number): boolean[] {
    const applied: boolean[] = [];
    while (applied.length < settlements.length) {
      const first = settlements[applied.length] as Settlement;
      let length = 1;
      while (isAlike(first, settlements[applied.length + length], length)) length += 1;
      const areAllApplied = settleAlike(first, length, now) === length;
      for (let seq = first.seq; seq < first.seq + length; seq += 1) {
        // No event is leased under this token now. Where it still is the event's last, a settlement has ended that lease.
        applied.push(areAllApplied || findToken.get(seq) === first.token);
      }
    }
    return applied;
  }

  /** @returns how many of `length` events from `seq` on were leased under the token, and are settled now */
  function settleAlike(first: Settlement, length: number, now: number): number {
    const { seq, token, state, delayMs, attempts, lastError } = first;
    const readySince = state === "ready" ? now : 0;
    const flag = first.possiblyRepeated ? 1 : 0;
    const last = seq + length - 1;
    const values = [state, now + delayMs, readySince, attempts, flag, lastError, seq, last, token];
    const failed = lastError === null ? [] : settleFailed.all(...values);
    for (const each of failed) history.add(each, { at: now, kind: "failed", attempts, error: lastError });
    const settled = lastError === null ? settleRange.run(...values).changes : failed.length;
    counts.failed += failed.length;
    if (state === "done") counts.handedOff += settled;
    return settled;
  }

  /** Frees leases of a dead process. @returns the events that became dead */
  function crash(seqs: readonly number[], now: number): CrashedEvent[] {
    const rows = seqs.map((seq) => freeCrashed.get(now, now, seq) as CrashedRow);
    for (const { seq, attempts } of rows) history.add(seq, { at: now, kind: "crashed", attempts, error: null });
    return rows
      .filter(({ state }) => state === "dead")
      .map(({ seq, event_id: eventId, type, attempts }) => ({ seq, eventId, type, attempts }));
  }

  function expired({ limit, held }: ClaimRequest, endpoint: string, now: number): number[] {
    const mine = new Set(held);
    const seqs = findExpired.all(endpoint, now, limit + mine.size);
    return seqs.filter((seq) => !mine.has(seq)).slice(0, limit);
  }

  function claim(request: ClaimRequest, endpoint: string, now: number): ClaimResult {
    const { leaseMs, limit, suspects } = request;
    const dead = shared ? crash(expired(request, endpoint, now), now) : [];
    moveEarlier.run(now, now, endpoint, now + CLOCK_SLACK_MS);
    const seqs = (suspects ? findSuspects : findOthers).all(endpoint, now, limit);
    const events = seqs.map((seq): ClaimedEvent => {
      const row = leaseOne.get(now + leaseMs, seq) as ClaimedRow;
      const payload = payloads.findForHandOff(seq);
      return {
        seq,
        eventId: row.event_id,
        type: row.type,
        token: row.token,
        attempts: row.attempts,
        crashes: row.crashes,
        receivedAt: row.received_at,
        possiblyRepeated: row.possibly_repeated === 1,
        replayed: row.replayed === 1,
        traceParent: payload?.traceParent ?? null,
        body: payload?.body ?? new Uint8Array(),
      };
    });
    return { events, dead, ...outlook(endpoint, now) };
  }

  function outlook(endpoint: string, now: number): Pick<ClaimResult, "nextDueInMs" | "isSuspectDue"> {
    const isSuspectDue = (findFirst.get(endpoint, now) ?? 0) >= SUSPECT_CRASHES;
    const dueAt = nextDue.get(endpoint, now) ?? null;
    return { nextDueInMs: dueAt === null ? null : dueAt - now, isSuspectDue };
  }

  const commit = db.transaction(({ endpoint, ...batch }: Batch, now: number): BatchResult => {
    Object.assign(counts, NOTHING);
    const result = {
      settlements: settle(batch.settlements, now),
      accepts: batch.accepts.map((event) => accept(event, endpoint, now)),
      claim: batch.claim === null ? null : claim(batch.claim, endpoint, now),
    };
    activity.add(endpoint, counts, now);
    return result;
  }).immediate;

  const takeOver = db.transaction(({ endpoint, held, crashed }: TakeOverRequest, now: number): TakeOverResult => {
    const mine = new Set(held);
    // Leases in a shared file may belong to a living process, so they end only when they expire.
    const orphans = shared ? [] : findLeased.all(endpoint).filter((seq) => !mine.has(seq));
    if (crashed) return { freed: orphans.length, dead: crash(orphans, now) };
    for (const seq of orphans) free.run(now, now, seq);
    // After a failure, this write shows whether the disk works, even if no lease was freed.
    writeNothing(db);
    return { freed: orphans.length, dead: [] };
  }).immediate;

  return {
    commit,
    claimNothing(request, endpoint, now) {
      const { suspects } = request;
      const isDue =
        (suspects ? findSuspects : findOthers).get(endpoint, now, 1) !== undefined ||
        (shared && expired(request, endpoint, now).length > 0) ||
        findAhead.get(endpoint, now + CLOCK_SLACK_MS) !== undefined;
      return isDue ? null : { events: [], dead: [], ...outlook(endpoint, now) };
    },
    takeOver,
  };
}
