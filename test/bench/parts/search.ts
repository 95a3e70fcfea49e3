import { join } from "node:path";
import { createReceiver, type InboxStore } from "signalbox";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { createManualClock } from "signalbox/testing";
import { fillMixed } from "../load/fill-mixed.js";
import { searchMixed, type AskResult } from "../load/search-mixed.js";
import { POSTGRES_BINARIES } from "../../own-postgres.js";
import { startOwnServer } from "../postgres/own-server.js";
import { formatCount, formatNumber } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { PartContext } from "./part-context.js";

const ENDPOINT = "default";
const MOST_EVENTS = 1_000_000;
const FILL_STEP = 100_000;
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
    const context = { endpoint: ENDPOINT, clock: createManualClock(Date.now()) };
    await store.open(context);
    try {
      for (let from = 0; from < events; from += FILL_STEP) {
        await fillMixed(store, ENDPOINT, {
          from,
          events: Math.min(FILL_STEP, events - from),
          of: events,
        });
        progress(`search  ${name} filled ${Math.min(from + FILL_STEP, events)} of ${events}`);
      }
    } finally {
      await store.close(ENDPOINT);
    }
    const { clock } = context;
    const receiver = createReceiver({
      secrets: "whsec_bench",
      store,
      clock,
      logger: false,
      onSignal: () => undefined,
    });
    await receiver.start();
    try {
      return await searchMixed(
        { store, inbox: receiver.inbox, endpoint: ENDPOINT, events },
        rounds * REPEATED,
      );
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
