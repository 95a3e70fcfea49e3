import type { Database } from "../../../base/sqlite/database.js";
import { nextTurn } from "../../../base/time/timers.js";
import {
  EVENT_STATES,
  type InboxEntry,
  type SearchPage,
  type SearchQuery,
} from "../../inbox/stored-events.js";
import { ENTRY, likePattern } from "../rows.js";
import { createStatements, entryOf, type EntryRow } from "./queries.js";

// A search has no index of its own, because an index would write a page for each event. It reads
// the table, the newest event first, in slices that are so short that they do not block the event
// loop, and ends after a while: the caller continues it.

/** One look at the newest events before `beforeSeq`. */
interface Slice {
  entries: InboxEntry[];
  /** Null when no older event is left. */
  nextBeforeSeq: number | null;
}

/** For how long one call looks for events, and how long each slice shall take. */
const MOST_MS = 50;
const SLICE_MS = 3;
const FIRST_ROWS = 1000;
const LEAST_ROWS = 100;
const MOST_ROWS = 10_000;
/** Up to so many events are sorted. */
const FEW = 4000;
/** So many of them are looked at in one slice. */
const FEW_AT_ONCE = 400;

/** The synchronous steps of a search. */
export function prepareSearch(db: Database) {
  const selectSeq = createStatements<{ seq: number }>(db);
  const selectEntry = createStatements<EntryRow>(db);

  function seqsOf(where: string, values: Record<string, unknown>): number[] {
    const sql = `SELECT seq FROM inbox INDEXED BY ${where} LIMIT ${FEW}`;
    return selectSeq(sql)
      .all(values)
      .map(({ seq }) => seq);
  }

  function entriesOf(
    from: string,
    query: SearchQuery,
    values: Record<string, unknown>,
  ): InboxEntry[] {
    const sql = `SELECT ${ENTRY} FROM ${from} AND ${conditions(query)} ORDER BY seq DESC LIMIT @limit`;
    return selectEntry(sql)
      .all({ ...query, ...values, errorPattern: likePattern(query.error ?? "") })
      .map(entryOf);
  }

  return {
    /**
     * @returns the events to look at, the newest first, if an index shows that they are few;
     * otherwise null
     */
    findFew(
      endpoint: string,
      { state, eventId = "", beforeSeq = Number.MAX_SAFE_INTEGER }: SearchQuery,
    ): number[] | null {
      const found =
        eventId !== ""
          ? seqsOf(`inbox_key WHERE endpoint = @endpoint AND ${BEGINS}`, { endpoint, eventId })
          : state === "ready" || state === "leased"
            ? seqsOf(`inbox_${state} WHERE endpoint = @endpoint AND state = '${state}'`, {
                endpoint,
              })
            : null;
      if (found === null || found.length === FEW) return null;
      return found.filter((seq) => seq < beforeSeq).toSorted((a, b) => b - a);
    },
    lookAtFew(
      seqs: readonly number[],
      endpoint: string,
      query: SearchQuery,
      limit: number,
    ): InboxEntry[] {
      const from = "inbox NOT INDEXED WHERE seq IN (SELECT value FROM json_each(@seqs))";
      return entriesOf(from, query, { endpoint, seqs: JSON.stringify(seqs), limit });
    },
    /** Looks at `rows` events. */
    lookBack(
      endpoint: string,
      query: SearchQuery,
      beforeSeq: number,
      rows: number,
      limit: number,
    ): Slice {
      const { state } = query;
      // Their indexes are in the order of `seq`.
      const isBySeq = state === "dead" || state === "quarantined";
      const from = isBySeq
        ? `inbox INDEXED BY inbox_${state} WHERE endpoint = @endpoint AND state = '${state}'`
        : "inbox NOT INDEXED WHERE true";
      const last = selectSeq(
        `SELECT seq FROM ${from} AND seq < @beforeSeq ORDER BY seq DESC LIMIT 1 OFFSET @others`,
      ).get({ ...(isBySeq && { endpoint }), beforeSeq, others: rows - 1 });
      const values = { endpoint, beforeSeq, first: last?.seq ?? 0, limit };
      const entries = entriesOf(`${from} AND seq < @beforeSeq AND seq >= @first`, query, values);
      return { entries, nextBeforeSeq: last?.seq ?? null };
    },
  };
}

export type SearchSteps = ReturnType<typeof prepareSearch>;

/** @param read runs a step now, on the open file */
export async function search(
  read: <Result>(step: (steps: SearchSteps) => Result) => Result,
  endpoint: string,
  query: SearchQuery,
): Promise<SearchPage> {
  const { limit = 50, state } = query;
  if (state !== undefined && !EVENT_STATES.includes(state))
    return { entries: [], nextBeforeSeq: null };
  const startedAt = performance.now();
  const entries: InboxEntry[] = [];
  await turnInLine();
  const few = read((steps) => steps.findFew(endpoint, query));
  let beforeSeq = query.beforeSeq ?? Number.MAX_SAFE_INTEGER;
  let rows = FIRST_ROWS;
  for (let slice = 0; ; slice++) {
    const beganAt = performance.now();
    // One more than the page has, to know whether others follow.
    const wanted = limit + 1 - entries.length;
    const found = read((steps) => {
      if (few === null) return steps.lookBack(endpoint, query, beforeSeq, rows, wanted);
      const portion = few.slice(slice * FEW_AT_ONCE, (slice + 1) * FEW_AT_ONCE);
      const isLast = few.length <= (slice + 1) * FEW_AT_ONCE;
      return {
        entries: steps.lookAtFew(portion, endpoint, query, wanted),
        nextBeforeSeq: isLast ? null : (portion.at(-1) ?? null),
      };
    });
    entries.push(...found.entries);
    if (entries.length > limit) {
      entries.length = limit;
      return { entries, nextBeforeSeq: entries.at(-1)?.seq ?? null };
    }
    if (found.nextBeforeSeq === null) return { entries, nextBeforeSeq: null };
    beforeSeq = found.nextBeforeSeq;
    const now = performance.now();
    if (now - startedAt > MOST_MS) return { entries, nextBeforeSeq: beforeSeq };
    const fitting = (rows * SLICE_MS) / Math.max(now - beganAt, 0.1);
    rows = Math.round(Math.min(Math.max(fitting, LEAST_ROWS), 2 * rows, MOST_ROWS));
    await turnInLine();
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/**
 * A turn of the event loop of its own, so that the slices of many searches do not block it
 * together.
 */
function turnInLine(): Promise<void> {
  return (lastTurn = lastTurn.then(nextTurn));
}

// The byte 255 is in no text, and is above all bytes that are. So these are all ids that begin with
// `@eventId`.
const BEGINS = "event_id >= @eventId AND event_id < @eventId || CAST(x'FF' AS TEXT)";

const CONDITIONS: Partial<Record<keyof SearchQuery, string>> = {
  state: "state = @state",
  type: "type = @type",
  subtype: "subtype = @subtype",
  typeOrSubtype: "(type = @typeOrSubtype OR subtype = @typeOrSubtype)",
  subject: "subject = @subject",
  error: String.raw`last_error LIKE @errorPattern ESCAPE '\'`,
  receivedBefore: "received_at < @receivedBefore",
  receivedAfter: "received_at >= @receivedAfter",
  eventId: BEGINS,
};

function conditions(query: SearchQuery): string {
  const names = (Object.keys(CONDITIONS) as (keyof SearchQuery)[]).filter(
    (name) => query[name] !== undefined,
  );
  return ["endpoint = @endpoint", ...names.map((name) => CONDITIONS[name])].join(" AND ");
}
