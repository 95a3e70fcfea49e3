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
import { preparePayloads } from "./payloads.js";
import { writeNothing } from "./schema.js";

export interface Committer {
  /** Applies a batch in one transaction. If it throws better-sqlite3's error, nothing was applied. */
  commit(batch: Batch): BatchResult;
  /** @returns the empty result of a claim, without a transaction; null when one is needed, as an event may be due */
  claimNothing(request: ClaimRequest): ClaimResult | null;
  takeOver(request: TakeOverRequest): TakeOverResult;
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

/** When the clock was set back, each claim corrects at most this many events, so that a backlog does not block the event loop. */
const MOVED_AT_ONCE = 500;

/** Whether `other` writes the same values as `first`, into the row whose `seq` is larger by `distance`. */
function isAlike(first: Settlement, other: Settlement | undefined, distance: number): boolean {
  return (
    other !== undefined &&
    other.seq === first.seq + distance &&
    other.state === first.state &&
    other.token === first.token &&
    other.dueAt === first.dueAt &&
    other.settledAt === first.settledAt &&
    other.attempts === first.attempts &&
    other.possiblyRepeated === first.possiblyRepeated &&
    other.lastError === first.lastError
  );
}

export function createCommitter(db: Database, shared: boolean): Committer {
  const insert = db.prepare(`
    INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, token, received_at, body_hash, last_error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint, event_id) DO NOTHING`);
  const payloads = preparePayloads(db);
  const findKey = db.prepare<[string, string], { seq: number; body_hash: Buffer }>(
    "SELECT seq, body_hash FROM inbox WHERE endpoint = ? AND event_id = ?",
  );
  const leasedInRange = "seq BETWEEN ? AND ? AND token = ? AND state = 'leased'";
  const countLeased = db
    .prepare<[number, number, number], number>(`SELECT count(*) FROM inbox WHERE ${leasedInRange}`)
    .pluck();
  const settleRange = db.prepare(`
    UPDATE inbox SET state = ?, due_at = ?, ready_since = ?, attempts = ?, possibly_repeated = ?,
      last_error = coalesce(?, last_error)
    WHERE ${leasedInRange}`);
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

  function accept(event: NewEvent): AcceptResult {
    const { endpoint, eventId, type, state, dueAt, received, bodyHash, body, reason } = event;
    const token = state === "leased" ? 1 : 0;
    const readySince = state === "ready" ? received.at : 0;
    const { at } = received;
    const inserted = insert.run(endpoint, eventId, type, state, dueAt, readySince, token, at, bodyHash, reason);
    if (inserted.changes === 0) {
      const original = findKey.get(endpoint, eventId);
      if (original === undefined) throw new Error("an event that is in the inbox cannot be found");
      return { status: "duplicate", seq: original.seq, sameBody: original.body_hash.equals(bodyHash) };
    }
    const seq = Number(inserted.lastInsertRowid);
    payloads.insert(seq, received, body);
    return { status: "accepted", seq };
  }

  /** Under load most settlements write the same values to consecutive events. One statement writes all of them. */
  function settle(settlements: readonly Settlement[]): boolean[] {
    const applied: boolean[] = [];
    while (applied.length < settlements.length) {
      const first = settlements[applied.length] as Settlement;
      let length = 1;
      while (isAlike(first, settlements[applied.length + length], length)) length += 1;
      const { seq, token } = first;
      // If one of the tokens is stale, each event is settled by itself, so that each result is that of one token.
      const isOneStale = length > 1 && countLeased.get(seq, seq + length - 1, token) !== length;
      const step = isOneStale ? 1 : length;
      for (let from = seq; from < seq + length; from += step) {
        const isApplied = settleAlike(first, from, from + step - 1) === step;
        for (let index = 0; index < step; index += 1) applied.push(isApplied);
      }
    }
    return applied;
  }

  /** @returns how many of the events from `from` to `to` were leased under the token, and are settled now */
  function settleAlike({ token, state, dueAt, settledAt, ...rest }: Settlement, from: number, to: number): number {
    const readySince = state === "ready" ? settledAt : 0;
    const flag = rest.possiblyRepeated ? 1 : 0;
    return settleRange.run(state, dueAt, readySince, rest.attempts, flag, rest.lastError, from, to, token).changes;
  }

  /** Frees leases of a dead process. @returns the events that became dead */
  function crash(seqs: readonly number[], now: number): CrashedEvent[] {
    const rows = seqs.map((seq) => freeCrashed.get(now, now, seq) as CrashedRow);
    return rows
      .filter(({ state }) => state === "dead")
      .map(({ seq, event_id: eventId, type, attempts }) => ({ seq, eventId, type, attempts }));
  }

  function expired({ endpoint, now, limit, held }: ClaimRequest): number[] {
    const seqs = findExpired.all(endpoint, now, limit + held.size);
    return seqs.filter((seq) => !held.has(seq)).slice(0, limit);
  }

  function claim(request: ClaimRequest): ClaimResult {
    const { endpoint, now, leaseUntil, limit, suspects } = request;
    const dead = shared ? crash(expired(request), now) : [];
    moveEarlier.run(now, now, endpoint, now + CLOCK_SLACK_MS);
    const seqs = (suspects ? findSuspects : findOthers).all(endpoint, now, limit);
    const events = seqs.map((seq): ClaimedEvent => {
      const row = leaseOne.get(leaseUntil, seq) as ClaimedRow;
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
        body: payloads.findBody(seq) ?? new Uint8Array(),
      };
    });
    return { events, dead, ...outlook(request) };
  }

  function outlook({ endpoint, now }: ClaimRequest): Pick<ClaimResult, "nextDueAt" | "isSuspectDue"> {
    const isSuspectDue = (findFirst.get(endpoint, now) ?? 0) >= SUSPECT_CRASHES;
    return { nextDueAt: nextDue.get(endpoint, now) ?? null, isSuspectDue };
  }

  const commit = db.transaction((batch: Batch): BatchResult => ({
    settlements: settle(batch.settlements),
    accepts: batch.accepts.map(accept),
    claim: batch.claim === null ? null : claim(batch.claim),
  })).immediate;

  const takeOver = db.transaction(({ endpoint, now, held, crashed }: TakeOverRequest): TakeOverResult => {
    // Leases in a shared file may belong to a living process, so they end only when they expire.
    const orphans = shared ? [] : findLeased.all(endpoint).filter((seq) => !held.has(seq));
    if (crashed) return { freed: orphans.length, dead: crash(orphans, now) };
    for (const seq of orphans) free.run(now, now, seq);
    // After a failure, this write shows whether the disk works, even if no lease was freed.
    writeNothing(db);
    return { freed: orphans.length, dead: [] };
  }).immediate;

  return {
    commit,
    claimNothing(request) {
      const { endpoint, now, suspects } = request;
      const isDue =
        (suspects ? findSuspects : findOthers).get(endpoint, now, 1) !== undefined ||
        (shared && expired(request).length > 0) ||
        findAhead.get(endpoint, now + CLOCK_SLACK_MS) !== undefined;
      return isDue ? null : { events: [], dead: [], ...outlook(request) };
    },
    takeOver,
  };
}
