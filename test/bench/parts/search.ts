import { join } from "node:path";
import type { InboxStore } from "signalbox";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { createManualClock } from "signalbox/testing";
import { fillMixed } from "../load/fill-mixed.js";
import { searchMixed } from "../load/search-mixed.js";
import { findPostgres, startOwnServer } from "../postgres/own-server.js";
import { describeMeasured, formatNumber, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import type { PartContext } from "./part-context.js";

const ENDPOINT = "default";
const MOST_EVENTS = 1_000_000;
const FILL_STEP = 100_000;
/** How often each search is made in a round. */
const REPEATED = 10;

export type SearchResult = Awaited<ReturnType<typeof measureSearch>>;

/** How long lists and searches of a page take in a large inbox, and for how long they block the event loop. */
export async function measureSearch({ under, rounds, progress }: PartContext, wanted: number) {
  const events = Math.min(wanted, MOST_EVENTS);
  const measure = async (name: string, store: InboxStore) => {
    const context = { endpoint: ENDPOINT, clock: createManualClock(Date.now()) };
    await store.open(context);
    try {
      for (let from = 0; from < events; from += FILL_STEP) {
        await fillMixed(store, ENDPOINT, { from, events: Math.min(FILL_STEP, events - from), of: events });
        progress(`search  ${name} filled ${Math.min(from + FILL_STEP, events)} of ${events}`);
      }
      // As a receiver that is started with such an inbox.
      await store.close(ENDPOINT);
      await store.open(context);
      return await searchMixed(store, ENDPOINT, events, rounds * REPEATED);
    } finally {
      await store.close(ENDPOINT);
    }
  };
  const sqlite = await measure("SQLite", sqliteStore(join(under, "search.db")));
  if (findPostgres() === undefined) return { events, sqlite, postgres: null };
  const server = await startOwnServer(under);
  try {
    const connectionString = await server.newDatabase();
    return { events, sqlite, postgres: await measure("PostgreSQL", postgresStore({ connectionString })) };
  } finally {
    await server.stop();
  }
}

export function searchTable(result: Measured<SearchResult>): BenchTable {
  const { events, sqlite, postgres } = result;
  return {
    title: `Lists and searches in an inbox of ${events.toLocaleString("en-US")} events`,
    columns: ["", "calls", "SQLite p50 ms", "p99 ms", "stall ms", "calls", "PostgreSQL p50 ms", "p99 ms", "stall ms"],
    rows: sqlite.map(({ name }, index) => ({
      cells: [
        name,
        ...[sqlite, postgres ?? []].flatMap((rows) => {
          const row = rows[index];
          return row === undefined
            ? ["–", "–", "–", "–"]
            : [row.calls, row.p50, row.p99, row.stallMs].map(formatNumber);
        }),
      ],
      isOurs: false,
    })),
    notes: [
      "Calls: until a page has an entry, or nothing is left. Stall: the longest of the event loop, with what else ran.",
    ],
    measured: describeMeasured(result),
  };
}
