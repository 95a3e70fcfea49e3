import type { Database } from "../../../base/sqlite/database.js";
import type {
  AcceptResult,
  Batch,
  BatchResult,
  ClaimedEvent,
  ClaimRequest,
  ClaimResult,
  CrashedEvent,
  NewEvent,
  Settlement,
} from "../../inbox/batch.js";
import { CRASH_LOOP, MAX_CRASHES, crashDelayMs } from "../../inbox/crashes.js";
import { differingFacts, isSameEvent } from "../../inbox/identity.js";
import { CLOCK_SLACK_MS, type ReclaimRequest, type ReclaimResult } from "../../inbox/store.js";
import { countDone, noActivity } from "../../inbox/activity.js";
import { ERASED_ID } from "../../inbox/done-reasons.js";
import { NEVER } from "../../inbox/stored-events.js";
import { prepareActivity } from "./activity.js";
import { erasedId, IS_ERASED } from "./erase.js";
import { HEAD, prepareLanes, WAITING } from "./lanes.js";
import { preparePayloads } from "./payloads.js";
import { writeNothing } from "./schema.js";

interface LeasedRow extends Omit<
  ClaimedEvent,
  "possiblyRepeated" | "replayed" | "dueForMs" | "received" | "body"
> {
  possiblyRepeated: number;
  replayed: number;
  receivedAt: number;
}

/**
 * When the clock was set back, each claim corrects at most this many events, so that a backlog does
 * not block the event loop.
 */
const MOVED_AT_ONCE = 500;

/**
 * Whether `other` writes the same values as `first`, into the row whose `seq` is larger by
 * `distance`.
 */
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

/** The writes of a receiver. `now` is the present by the clock of its endpoint. */
export function createCommitter(db: Database, shared: boolean) {
  const insert = db.prepare(`
    INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, token, received_at, body_hash, last_error,
      subtype, subject, sender, content_key, lane, lane_skips)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const payloads = preparePayloads(db);
  const activity = prepareActivity(db);
  const lanes = prepareLanes(db);
  /** What the running commit has counted. */
  let counts = noActivity();
  let superseded = 0;
  type OriginalRow = Pick<NewEvent, "type" | "subtype" | "subject" | "bodyHash"> & {
    seq: number;
    isErased: number;
  };
  const original = `
    SELECT seq, type, subtype, subject, body_hash AS bodyHash, ${IS_ERASED} AS isErased
    FROM inbox WHERE endpoint = ?`;
  const findKey = db.prepare<[string, string], OriginalRow>(`${original} AND event_id = ?`);
  const findContent = db.prepare<[string, Uint8Array | null], OriginalRow>(
    `${original} AND content_key = ?`,
  );
  const areIdsErased = db.prepare<[string]>(
    `SELECT 1 FROM inbox WHERE endpoint = ? AND event_id > '${ERASED_ID}' AND event_id < '${ERASED_ID}~' LIMIT 1`,
  );
  const endErased = db.prepare<[number, number]>(
    "UPDATE inbox SET state = 'done', due_at = ? WHERE seq = ? AND token < 0 AND state = 'leased'",
  );
  const markRepeated = db.prepare<[number]>("UPDATE inbox SET possibly_repeated = 1 WHERE seq = ?");
  const settleSql = `
    UPDATE inbox SET state = ?, due_at = ?, ready_since = ?, attempts = ?, possibly_repeated = ?,
      last_error = coalesce(?, last_error)
    WHERE seq BETWEEN ? AND ? AND token = ? AND state = 'leased'`;
  const settleRange = db.prepare(settleSql);
  const settleFailed = db.prepare<unknown[], number>(`${settleSql} RETURNING seq`).pluck();
  const findToken = db.prepare<[number], number>("SELECT token FROM inbox WHERE seq = ?").pluck();
  const due = "endpoint = ? AND state = 'ready' AND due_at <= ?";
  const findDue = db.prepare<[string, number, number], { seq: number; dueAt: number }>(
    `SELECT seq, due_at AS dueAt FROM inbox WHERE ${due} ORDER BY due_at, seq LIMIT ?`,
  );
  const leaseOne = db.prepare<[number, number], LeasedRow>(`
    UPDATE inbox SET state = 'leased', due_at = ?, token = token + 1 WHERE seq = ?
    RETURNING seq, event_id AS eventId, type, sender, token, attempts, possibly_repeated AS possiblyRepeated, replayed,
      received_at AS receivedAt, lane`);
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
  const findCrashed = db.prepare<[number], CrashedEvent & { crashes: number }>(
    "SELECT seq, event_id AS eventId, type, attempts, crashes FROM inbox WHERE seq = ?",
  );
  const freeCrashed = db.prepare(`
    UPDATE inbox SET state = @state, due_at = @dueAt, ready_since = @now, token = token + 1, crashes = @crashes,
      possibly_repeated = 1, last_error = iif(@crashes > 1, '${CRASH_LOOP}', last_error)
    WHERE seq = @seq`);

  function accept(event: NewEvent, endpoint: string, now: number): AcceptResult {
    const { eventId, type, leaseMs, received, bodyHash, body, reason, lane = null } = event;
    const isBehind = lane !== null && event.state !== "done" && lanes.mustWait(endpoint, lane);
    const state = isBehind ? "ready" : event.state;
    const token = state === "leased" ? 1 : 0;
    const inserted = insert.run(
      endpoint,
      eventId,
      type,
      state,
      isBehind ? NEVER : now + (leaseMs ?? 0),
      state === "ready" && !isBehind ? now : 0,
      token,
      received.at,
      bodyHash,
      reason,
      event.subtype,
      event.subject,
      event.sender,
      event.contentKey,
      lane === null ? null : lane.key,
      lane === null ? null : lane.skips ? 1 : 0,
    );
    if (inserted.changes === 0) return duplicateOf(event, endpoint);
    const seq = Number(inserted.lastInsertRowid);
    if (event.possiblyRepeated) markRepeated.run(seq);
    payloads.insert(seq, received, body);
    if (lane !== null && state !== "done")
      superseded += lanes.add(seq, endpoint, lane, isBehind ? WAITING : HEAD, now);
    counts.accepted += 1;
    if (state === "done") counts.ignored += 1;
    return { status: "accepted", seq, token };
  }

  /** An event whose id was erased gets the one that is stored in its place. */
  function withErasedIds(events: readonly NewEvent[], endpoint: string): readonly NewEvent[] {
    if (events.length === 0 || areIdsErased.get(endpoint) === undefined) return events;
    return events.map((event) => {
      const eventId = erasedId(event.eventId);
      return findKey.get(endpoint, eventId) === undefined ? event : { ...event, eventId };
    });
  }

  function duplicateOf(event: NewEvent, endpoint: string): AcceptResult {
    const byId = findKey.get(endpoint, event.eventId);
    const stored = byId ?? findContent.get(endpoint, event.contentKey);
    if (stored === undefined) throw new Error("an event that is in the inbox cannot be found");
    return {
      status: "duplicate",
      seq: stored.seq,
      sameBody: Buffer.compare(stored.bodyHash, event.bodyHash) === 0,
      otherThan: isSameEvent(stored, event) ? null : byId === undefined ? "content" : "id",
      isBackfilled:
        stored.isErased === 1 || payloads.findReceived(stored.seq, 0).backfilled === true,
      differing: differingFacts(stored, event),
    };
  }

  /**
   * Under load most settlements write the same values to consecutive events. One statement writes
   * all of them.
   */
  function settle(settlements: readonly Settlement[], now: number): boolean[] {
    const applied: boolean[] = [];
    while (applied.length < settlements.length) {
      const first = settlements[applied.length] as Settlement;
      let length = 1;
      while (isAlike(first, settlements[applied.length + length], length)) length += 1;
      const settled = settleAlike(first, length, now);
      // If not all were applied, the time of another one may be counted.
      for (let index = 0; first.state === "done" && index < settled; index += 1) {
        const { receivedAt } = settlements[applied.length + index] as Settlement;
        countDone(counts, now - receivedAt);
      }
      const areAllApplied = settled === length;
      for (let seq = first.seq; seq < first.seq + length; seq += 1) {
        // No event is leased under this token now. If it is still the token of the event, a
        // settlement has ended that lease.
        applied.push(areAllApplied || isSettled(seq, first.token, now));
      }
    }
    return applied;
  }

  /** Whether this was the last lease of the event; if it was erased meanwhile, it ends here. */
  function isSettled(seq: number, token: number, now: number): boolean {
    const last = findToken.get(seq);
    if (last === -token) endErased.run(now, seq);
    return last === token || last === -token;
  }

  /**
   * @returns how many of `length` events from `seq` on were leased under the token, and are settled
   * now
   */
  function settleAlike(first: Settlement, length: number, now: number): number {
    const { seq, token, state, delayMs, attempts, lastError } = first;
    const readySince = state === "ready" ? now : 0;
    const flag = first.possiblyRepeated ? 1 : 0;
    const last = seq + length - 1;
    const values = [state, now + delayMs, readySince, attempts, flag, lastError, seq, last, token];
    const failed = lastError === null ? [] : settleFailed.all(...values);
    for (const each of failed)
      payloads.addStep(each, { at: now, kind: "failed", attempts, error: lastError });
    const settled = lastError === null ? settleRange.run(...values).changes : failed.length;
    counts.failed += failed.length;
    return settled;
  }

  /** @returns how many events are due now, because the ones before them in their lanes have ended */
  function promote(
    settlements: readonly Settlement[],
    applied: boolean[],
    endpoint: string,
    now: number,
  ): number {
    let promoted = 0;
    for (const [index, { seq, lane = null }] of settlements.entries())
      if (lane !== null && applied[index] === true && lanes.ended(seq, endpoint, lane, now))
        promoted += 1;
    return promoted;
  }

  /** Frees leases of a dead process. @returns the events that became dead */
  function crash(seqs: readonly number[], now: number): CrashedEvent[] {
    const dead: CrashedEvent[] = [];
    for (const seq of seqs) {
      if (endErased.run(now, seq).changes > 0) continue;
      const { crashes: before, ...event } = findCrashed.get(seq) as CrashedEvent & {
        crashes: number;
      };
      const crashes = before + 1;
      const state = crashes >= MAX_CRASHES ? "dead" : "ready";
      freeCrashed.run({ seq, state, crashes, dueAt: now + crashDelayMs(crashes), now });
      payloads.addStep(seq, { at: now, kind: "crashed", attempts: event.attempts, error: null });
      if (state === "dead") {
        dead.push(event);
        lanes.leave(seq, now);
      }
    }
    return dead;
  }

  /** The leases that expired, and that the claimer does not hold. */
  function expired({ held, limit }: ClaimRequest, endpoint: string, now: number): number[] {
    const mine = new Set(held);
    const seqs = findExpired.all(endpoint, now, limit + mine.size);
    return seqs.filter((seq) => !mine.has(seq)).slice(0, limit);
  }

  function claim(request: ClaimRequest, endpoint: string, now: number): ClaimResult {
    const dead = shared ? crash(expired(request, endpoint, now), now) : [];
    moveEarlier.run(now, now, endpoint, now + CLOCK_SLACK_MS);
    const events = findDue.all(endpoint, now, request.limit).map(({ seq, dueAt }): ClaimedEvent => {
      const { receivedAt, ...row } = leaseOne.get(now + request.leaseMs, seq) as LeasedRow;
      return {
        ...row,
        possiblyRepeated: row.possiblyRepeated === 1,
        replayed: row.replayed === 1,
        dueForMs: now - dueAt,
        earlier: row.lane === null ? null : lanes.earlierOf(seq),
        received: payloads.findReceived(seq, receivedAt),
        body: payloads.findBody(seq) ?? new Uint8Array(),
      };
    });
    return { events, dead, nextDueInMs: nextDueInMs(endpoint, now) };
  }

  function nextDueInMs(endpoint: string, now: number): number | null {
    const dueAt = nextDue.get(endpoint, now) ?? NEVER;
    return dueAt === NEVER ? null : dueAt - now;
  }

  const commit = db.transaction((batch: Batch, now: number): BatchResult => {
    const { endpoint } = batch;
    counts = noActivity();
    superseded = 0;
    const settlements = settle(batch.settlements, now);
    const promoted = promote(batch.settlements, settlements, endpoint, now);
    const accepts = withErasedIds(batch.accepts, endpoint).map((event) =>
      accept(event, endpoint, now),
    );
    const claimed = batch.claim === null ? null : claim(batch.claim, endpoint, now);
    activity.add(endpoint, counts, now);
    return { settlements, promoted, superseded, accepts, claim: claimed };
  }).immediate;

  function reclaim({ endpoint, held, crashed }: ReclaimRequest, now: number): ReclaimResult {
    const mine = new Set(held);
    // Leases in a shared file may belong to a living process, so they end only when they expire.
    const orphans = shared ? [] : findLeased.all(endpoint).filter((seq) => !mine.has(seq));
    if (crashed) return { freed: orphans.length, dead: crash(orphans, now) };
    for (const seq of orphans) if (endErased.run(now, seq).changes === 0) free.run(now, now, seq);
    // After a failure, this write shows whether the disk works, even if no lease was freed.
    writeNothing(db);
    return { freed: orphans.length, dead: [] };
  }

  return {
    commit,
    /**
     * @returns the empty result of a claim, without a transaction; null when one is needed, as an
     * event may be due
     */
    claimNothing(request: ClaimRequest, endpoint: string, now: number): ClaimResult | null {
      const isDue =
        findDue.get(endpoint, now, 1) !== undefined ||
        (shared && expired(request, endpoint, now).length > 0) ||
        findAhead.get(endpoint, now + CLOCK_SLACK_MS) !== undefined;
      return isDue ? null : { events: [], dead: [], nextDueInMs: nextDueInMs(endpoint, now) };
    },
    /** In a transaction of the caller. */
    reclaim,
  };
}

export type Committer = ReturnType<typeof createCommitter>;
