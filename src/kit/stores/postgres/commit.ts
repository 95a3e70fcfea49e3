import { randomInt } from "node:crypto";
import { SignalboxError } from "../../../base/errors.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import type {
  AcceptResult,
  Batch,
  BatchResult,
  ClaimedEvent,
  CrashedEvent,
  Fact,
  NewEvent,
  Settlement,
  SettleResult,
} from "../../inbox/batch.js";
import { differingFacts, isSameEvent } from "../../inbox/identity.js";
import { countDone, noActivity, type Activity } from "../../inbox/activity.js";
import { SUPERSEDED } from "../../inbox/done-reasons.js";
import {
  isStorable,
  NEVER,
  DEFAULT_SENDER,
  MOST_PAST_STEPS,
  type StoredEvent,
} from "../../inbox/stored-events.js";
import { parseReceived } from "../rows.js";
import { HEAD, WAITING } from "./commit-functions.js";
import type { Run } from "./connection.js";

/** The first row of a commit's result. */
interface Summary {
  /** By the database's clock. */
  now: number;
  /**
   * `before`: applied by an earlier commit, or done by a transaction of the callback. null: all
   * settlements were applied now.
   */
  applied: (SettleResult | "before")[] | null;
  seqs: number[] | null;
  /** null: all events are new. */
  fates: string[] | null;
  dead: CrashedEvent[] | null;
  nextDueInMs: number | null;
  /** The new events that were to be leased, and wait in their lanes. */
  waiting: number[] | null;
  promoted: number;
  superseded: number;
}

type ClaimedRow = Omit<ClaimedEvent, "received"> & {
  summary: null;
  receivedAt: number;
  received: string | null;
};

/** The rows of a commit's result: the summary first, then the claimed events. */
export type CommitRow = { summary: Summary } | ClaimedRow;

export const COMMIT_PARAMETERS = Array.from({ length: 37 }, (_, index) => `$${index + 1}`).join(
  ", ",
);

/**
 * Of an event's first lease. Each claim adds up to 1,001, and the column holds twice this number.
 */
const MOST_TOKEN = 2 ** 30;

/**
 * Converts a batch to the arguments of `commit_batch` after the endpoint and the owner, and its
 * rows to the result.
 */
export function prepareCommit({ settlements, accepts, claim }: Batch) {
  // In one order for all processes, because each row is locked until the end of its transaction.
  const settled = order(settlements, (a, b) => a.seq - b.seq);
  const accepted = order(accepts, (a, b) =>
    a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : 0,
  );
  const ends = settled.map((index) => settlements[index] as Batch["settlements"][number]);
  const events = accepted.map((index) => accepts[index] as NewEvent);
  if (events.some(({ eventId }) => storable(eventId) === null)) {
    // Otherwise two ids would become one.
    const message = "The inbox refused an event, whose id is not well-formed or has a NUL.";
    throw new SignalboxError("store_row_refused", message, "");
  }
  // The same for all: they are options of the receiver.
  const quiet = events.find(({ lane }) => lane?.burst)?.lane?.burst;
  let start = 1;
  const starts = events.map(({ body }) => (start += body.byteLength) - body.byteLength);

  const firstToken = randomInt(1, MOST_TOKEN);
  const values = [
    firstToken,
    ends.map(({ seq }) => seq),
    ends.map(({ token }) => token),
    ends.map(({ state }) => state),
    ends.map(({ delayMs }) => delayMs),
    ends.map(({ attempts }) => attempts),
    ends.map(({ possiblyRepeated }) => possiblyRepeated),
    ends.map(({ lastError }) => lastError),
    ends.filter(({ mayBeCompleted }) => mayBeCompleted).map(({ seq }) => seq),
    events.map(({ eventId }) => eventId),
    events.map(({ type }) => type),
    events.map(({ state }) => state),
    events.map(({ leaseMs }) => leaseMs),
    events.map(({ received }) => received.at),
    events.map(({ reason }) => reason),
    events.map(({ received }) => JSON.stringify(received)),
    events.map(({ bodyHash }) => Buffer.from(bodyHash)),
    starts,
    events.map(({ body }) => body.byteLength),
    Buffer.concat(events.map(({ body }) => body)),
    events.map(({ subtype }) => subtype),
    events.map(({ subject }) => subject),
    claim?.limit ?? null,
    claim?.leaseMs ?? null,
    claim?.held ?? [],
    unlessNull(events.map(({ sender }) => sender)),
    unlessNull(events.map(({ contentKey }) => contentKey && Buffer.from(contentKey))),
    unlessNull(events.map(({ possiblyRepeated }) => possiblyRepeated || null)),
    unlessNull(ends.map(({ lane }) => (lane ? Buffer.from(lane) : null))),
    unlessNull(events.map(({ lane }) => (lane ? Buffer.from(lane.key) : null))),
    events.some(({ lane }) => lane?.skips),
    events.some(({ lane }) => lane) ? accepted.map((index) => index + 1) : null,
    unlessNull(events.map(({ lane }) => (lane?.burst ? Buffer.from(lane.burst.rank ?? []) : null))),
    quiet?.quietMs ?? null,
    quiet?.longestMs ?? null,
  ];

  function readRows([first, ...claimed]: readonly CommitRow[]): {
    result: BatchResult;
    counts: Activity;
  } {
    const summary = first?.summary as Summary;
    const { promoted, superseded } = summary;
    const result: BatchResult = { settlements: [], accepts: [], claim: null, promoted, superseded };
    // For the minute of the commit by the database's clock.
    const counts = { at: summary.now - (summary.now % MINUTE_MS), ...noActivity() };
    for (const [at, index] of settled.entries()) {
      const applied = summary.applied?.[at] ?? true;
      result.settlements[index] = applied === "before" ? true : applied;
      const { state, lastError, mayBeCompleted, receivedAt } = ends[at] as Settlement;
      // A completed event counts with its settlement: its transaction must not hold a row that
      // others write.
      const isCompleted =
        applied === "completed" ||
        (applied === "before" && state === "done" && mayBeCompleted === true);
      if (isCompleted || (applied === true && state === "done"))
        countDone(counts, summary.now - receivedAt);
      if (applied === true && lastError !== null) counts.failed += 1;
    }
    const firstOf = new Map<number, NewEvent>();
    for (const [at, index] of accepted.entries()) {
      const accept = acceptResult(summary, events[at] as NewEvent, at, firstOf, firstToken);
      result.accepts[index] = accept;
      if (accept.status !== "accepted") continue;
      counts.accepted += 1;
      if (events[at]?.state === "done") counts.ignored += 1;
    }
    if (claim !== null) {
      const { dead, nextDueInMs } = summary;
      result.claim = {
        events: (claimed as ClaimedRow[]).map(claimedEvent),
        dead: dead ?? [],
        nextDueInMs,
      };
    }
    return { result, counts };
  }

  return { values, readRows };
}

/** @returns null for nulls alone, as those of the service: it is shorter than an array of them */
function unlessNull<Item>(items: readonly Item[]): readonly Item[] | null {
  return items.every((item) => item === null) ? null : items;
}

/** @returns the indexes of the items in this order */
function order<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): number[] {
  return Array.from(items.keys()).sort((a, b) => compare(items[a] as Item, items[b] as Item));
}

/**
 * @returns null, which equals nothing, for a text that no event can have: PostgreSQL refuses NUL,
 * and pg would send U+FFFD for half of a surrogate pair
 */
export function storable(text: string): string | null {
  return isStorable(text) ? text : null;
}

function claimedEvent({
  summary: _summary,
  receivedAt,
  received,
  ...event
}: ClaimedRow): ClaimedEvent {
  return { ...event, received: parseReceived(received, receivedAt) };
}

/**
 * @param firstOf the event of this batch that became the row of this `seq`; several can have one id
 */
function acceptResult(
  { seqs, fates, waiting }: Summary,
  event: NewEvent,
  at: number,
  firstOf: Map<number, NewEvent>,
  firstToken: number,
): AcceptResult {
  const seq = seqs?.[at] as number;
  const fate = fates?.[at] ?? "new";
  const first = firstOf.get(seq);
  if (fate === "new" && first === undefined) {
    firstOf.set(seq, event);
    const isLeased = event.state === "leased" && waiting?.includes(seq) !== true;
    return { status: "accepted", seq, token: isLeased ? firstToken : 0 };
  }
  if (fate !== "new") {
    // `id type subject`: the key, and the facts that differ.
    const [key, ...words] = fate.split(" ");
    const isBackfilled = words.includes("backfilled");
    const otherThan = key === "same" ? null : key === "content" ? "content" : "id";
    const differing = isBackfilled ? [] : (words as Fact[]);
    return {
      status: "duplicate",
      seq,
      sameBody: key !== "other",
      otherThan,
      isBackfilled,
      differing,
    };
  }
  return {
    status: "duplicate",
    seq,
    sameBody: first !== undefined && Buffer.compare(first.bodyHash, event.bodyHash) === 0,
    otherThan: first !== undefined && isSameEvent(first, event) ? null : "id",
    isBackfilled: first?.received.backfilled === true,
    differing: first === undefined ? [] : differingFacts(first, event),
  };
}

/**
 * Adds events of another store; see `restore` of the port.
 *
 * @param name the schema, quoted
 */
export async function restore(
  run: Run,
  name: string,
  endpoint: string,
  events: readonly StoredEvent[],
): Promise<number> {
  // Of several events with one id the first is added.
  const byId = new Map(events.toReversed().map((event) => [event.eventId, event]));
  // A lane has one head: the first that is given.
  const given = events.filter(({ lane }) => lane?.place === "head").toReversed();
  const heads = new Map(given.map(({ lane, eventId }) => [lane?.key, eventId]));
  const rows = Array.from(byId.values(), ({ bodyHash, rawBody, received, history, ...entry }) => ({
    ...entry,
    isFirst: heads.get(entry.lane?.key) === entry.eventId,
    // Erased while it was leased: nothing is left to hand off.
    ...(entry.state === "leased" && rawBody === null && { state: "done" }),
    history: history.slice(-MOST_PAST_STEPS),
    body_hash: Buffer.from(bodyHash).toString("hex"),
    body: rawBody === null ? null : Buffer.from(rawBody).toString("base64"),
    received: JSON.stringify(received),
  })).toReversed();
  const [row] = await run<{ added: number }>(
    `WITH given AS (
      SELECT *, state = 'leased' AS was_leased,
        CASE WHEN place = ${WAITING} THEN ${NEVER} WHEN state = 'leased' THEN ${name}.now_ms() ELSE "dueAt" END AS due_at
      FROM (SELECT e.*, decode(lane->>'key', 'hex') AS lane_key,
        CASE WHEN "isFirst" AND (SELECT h.seq FROM ${name}.inbox_lane h
            WHERE h.endpoint = $1 AND h.lane = decode(e.lane->>'key', 'hex') AND h.place = ${HEAD} LIMIT 1) IS NULL THEN ${HEAD}
          WHEN lane->>'place' IS NOT NULL AND state IN ('ready', 'leased') THEN ${WAITING} END AS place
      FROM json_to_recordset($2::json) AS e("eventId" text, type text, state text, "dueAt" bigint, attempts int, crashes int,
        "possiblyRepeated" boolean, replayed boolean, "receivedAt" bigint, "lastError" text, subtype text,
        subject text, sender text, history json, body_hash text, body text, received text, lane json,
        "isFirst" boolean)) AS e
    ), added AS (
      INSERT INTO ${name}.inbox (endpoint, event_id, type, state, due_at, queue_at, parked_at, received_at, token, owner,
        attempts, crashes, possibly_repeated, replayed, has_payload, body_hash, last_error, subtype, subject, sender, lane, lane_skips, burst)
      SELECT $1, "eventId", type, CASE WHEN was_leased THEN 'ready' ELSE state END, due_at,
        CASE WHEN state IN ('ready', 'leased') THEN due_at END,
        CASE WHEN state IN ('dead', 'quarantined') THEN due_at END, "receivedAt", 0, 0, attempts, crashes,
        "possiblyRepeated" OR was_leased, replayed, body IS NOT NULL, decode(body_hash, 'hex'), "lastError",
        subtype, subject, nullif(sender, '${DEFAULT_SENDER}'), lane_key, (lane->>'skips')::boolean,
        CASE WHEN state = 'done' AND starts_with("lastError", '${SUPERSEDED}') THEN 0 END -- of an unknown burst
      FROM given
      ON CONFLICT (endpoint, event_id) DO NOTHING
      RETURNING seq, event_id
    ), bodies AS (
      INSERT INTO ${name}.inbox_body (seq, received, body)
      SELECT seq, received, decode(body, 'base64') FROM added JOIN given ON "eventId" = event_id WHERE body IS NOT NULL
    ), steps AS (
      INSERT INTO ${name}.inbox_history (seq, at, kind, attempts, error)
      SELECT seq, at, kind, h.attempts, error
      FROM added JOIN given ON "eventId" = event_id,
        json_to_recordset(history) AS h(at bigint, kind text, attempts int, error text)
      WHERE body IS NOT NULL
    ), lanes AS (
      INSERT INTO ${name}.inbox_lane (endpoint, lane, place, seq)
      SELECT $1, lane_key, place, seq FROM added JOIN given ON "eventId" = event_id WHERE place IS NOT NULL
    )
    SELECT count(*) AS added,
      CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN set_config('synchronous_commit', 'on', true) END
    FROM added`,
    [endpoint, JSON.stringify(rows)],
  );
  return row?.added ?? 0;
}
