import { join } from "node:path";
import { createReceiver, type InboxStore, type Receiver, type SearchQuery } from "signalbox";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { createManualClock } from "signalbox/testing";
import { POSTGRES_BINARIES } from "../../own-postgres.js";
import { ENDPOINT, SECRET } from "../endpoint.js";
import { fillStore, MIXED } from "../load/fill-store.js";
import { startOwnServer } from "../postgres/own-server.js";
import { watchLoop } from "../processes/loop-watch.js";
import { formatCount, formatNumber } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import { percentile } from "../statistics.js";
import type { PartContext } from "./part-context.js";

const MOST_EVENTS = 1_000_000;
const BETWEEN_EVENTS_MS = 30_000;
/** How often each search is made in a round. */
const REPEATED = 10;

/**
 * How long lists and searches of a page take in a large inbox, and for how long they block the
 * event loop.
 */
export async function measureSearch(
  { under, rounds, progress }: PartContext,
  wanted: number,
): Promise<PartFindings> {
  const events = Math.min(wanted, MOST_EVENTS);
  const measure = async (name: string, store: InboxStore) => {
    await fillStore(store, {
      events,
      betweenMs: BETWEEN_EVENTS_MS,
      isMixed: true,
      progress: (filled) => progress(`search  ${name} filled ${filled} of ${events}`),
    });
    const clock = createManualClock(Date.now());
    const receiver = createReceiver({
      secrets: SECRET,
      store,
      clock,
      logger: false,
      onSignal: () => undefined,
    });
    await receiver.start();
    try {
      return await searchMixed({ store, inbox: receiver.inbox, events }, rounds * REPEATED);
    } finally {
      await receiver.close();
    }
  };
  const sqlite = await measure("SQLite", sqliteStore(join(under, "search.db")));
  let postgres: AskResult[] = [];
  if (POSTGRES_BINARIES !== undefined) {
    const server = await startOwnServer(under);
    try {
      postgres = await measure(
        "PostgreSQL",
        postgresStore({ connectionString: await server.newDatabase() }),
      );
    } finally {
      await server.stop();
    }
  }
  const of = (asked: AskResult | undefined, figure: "calls" | "p50" | "p99" | "stallMs"): string =>
    asked === undefined ? "–" : formatNumber(asked[figure]);
  const table = makeTable(
    `Lists and searches in an inbox of ${formatCount(events)} events`,
    sqlite.map((row, index) => ({ sqlite: row, postgres: postgres[index] })),
    [
      ["", (row) => row.sqlite.name],
      ["calls", (row) => of(row.sqlite, "calls")],
      ["SQLite p50 ms", (row) => of(row.sqlite, "p50")],
      ["p99 ms", (row) => of(row.sqlite, "p99")],
      ["stall ms", (row) => of(row.sqlite, "stallMs")],
      ["calls", (row) => of(row.postgres, "calls")],
      ["PostgreSQL p50 ms", (row) => of(row.postgres, "p50")],
      ["p99 ms", (row) => of(row.postgres, "p99")],
      ["stall ms", (row) => of(row.postgres, "stallMs")],
    ],
    [
      "Calls: until a page has an entry, or nothing is left. Stall: the longest of the event loop, with what else ran.",
    ],
  );
  return { tables: [table] };
}

interface AskResult {
  name: string;
  /** Of each call. */
  p50: number;
  p99: number;
  /** The longest stall of the event loop. */
  stallMs: number;
  /** Calls until the answer was complete. */
  calls: number;
}

interface MixedInbox {
  store: InboxStore;
  inbox: Receiver["inbox"];
  events: number;
}

/** Asks everything again and again. */
async function searchMixed(
  { store, inbox, events }: MixedInbox,
  rounds: number,
): Promise<AskResult[]> {
  const newest = (await store.search(ENDPOINT, { limit: 1 })).entries[0];
  if (newest === undefined) throw new Error("the inbox is empty");
  const anyId = (await store.search(ENDPOINT, { beforeSeq: Math.ceil(newest.seq / 2), limit: 1 }))
    .entries[0]?.eventId;
  const searches: [name: string, query: SearchQuery][] = [
    ["newest", {}],
    ["state: dead", { state: "dead" }],
    ["state: done", { state: "done" }],
    ["product, 1 in 10", { subject: MIXED.commonProduct }],
    ["product, 1 in 2,000", { subject: "product-7" }],
    ["product, three events", { subject: MIXED.rareProduct }],
    ["product, none", { subject: MIXED.noProduct }],
    ["signal type, 1 in 40", { subtype: MIXED.signalType }],
    ["dead with an error", { state: "dead", error: "queue" }],
    ["dead of a product", { state: "dead", subject: "product-7" }],
    ["whole id", { eventId: anyId }],
    ["id, all begin so", { eventId: newest.eventId.slice(0, 2) }],
    [
      "received before the middle",
      { receivedBefore: newest.receivedAt - (events / 2) * BETWEEN_EVENTS_MS },
    ],
  ];
  const results: AskResult[] = [];
  for (const [name, query] of searches) {
    let beforeSeq = query.beforeSeq;
    results.push(
      await measureCalls(name, rounds, async () => {
        const { entries, nextBeforeSeq } = await store.search(ENDPOINT, { ...query, beforeSeq });
        const isComplete = nextBeforeSeq === null || entries.length > 0;
        beforeSeq = isComplete ? query.beforeSeq : nextBeforeSeq;
        return isComplete;
      }),
    );
  }
  const others: [name: string, ask: () => Promise<unknown>][] = [
    ["list", () => store.list({ endpoint: ENDPOINT, limit: 50 })],
    ["get", () => store.get(ENDPOINT, newest.eventId)],
    ["activity, 7 days", () => store.activity(ENDPOINT, { minutes: 60, spans: 168 })],
    ["failures of 5,000 events", () => inbox.failures()],
    ["stats", () => store.stats(ENDPOINT)],
  ];
  for (const [name, ask] of others) {
    results.push(
      await measureCalls(name, rounds, async () => {
        await ask();
        return true;
      }),
    );
  }
  return results;
}

/** @param call resolves to whether its answer is complete */
async function measureCalls(
  name: string,
  rounds: number,
  call: () => Promise<boolean>,
): Promise<AskResult> {
  const took: number[] = [];
  let calls = 0;
  const watch = watchLoop();
  for (let round = 0; round < rounds; round++) {
    for (let isComplete = false; !isComplete;) {
      const beganAt = performance.now();
      isComplete = await call();
      took.push(performance.now() - beganAt);
      calls += 1;
    }
    // Otherwise the timer of the watch would see many short calls as one stall.
    await new Promise((resume) => setImmediate(resume));
  }
  const { max: stallMs } = watch.stop();
  took.sort((a, b) => a - b);
  return {
    name,
    p50: percentile(took, 50),
    p99: percentile(took, 99),
    stallMs,
    calls: calls / rounds,
  };
}
