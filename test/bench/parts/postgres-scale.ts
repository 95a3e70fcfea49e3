import { postgresStore } from "signalbox/stores/postgres";
import { createManualClock } from "signalbox/testing";
import { ENDPOINT } from "../postgres/contenders.js";
import { measureLifeCycles, type Lane } from "../postgres/life-cycles.js";
import { startOwnServer } from "../postgres/own-server.js";
import { queryDatabase } from "../postgres/query-database.js";
import { describeMeasured, formatRounds, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import type { PartContext } from "./part-context.js";
import { lifeCycleTable } from "./postgres.js";

/** Events between two lines of progress. */
const FILL_STEP = 1_000_000;

export type PostgresScaleResult = Awaited<ReturnType<typeof measurePostgresScale>>;

/** Whether an inbox in PostgreSQL that holds millions of events is slower than an empty one. */
export async function measurePostgresScale(context: PartContext, events: number) {
  const { rounds, seconds, under, progress } = context;
  const server = await startOwnServer(under);
  try {
    const many = events.toLocaleString("en-US");
    const lanes: Lane[] = [
      { label: "an empty inbox", name: "signalbox", url: await server.newDatabase() },
      { label: `${many} events, ascending ids`, name: "signalbox", url: await server.newDatabase() },
      { label: `${many} events, ids in no order`, name: "signalbox", url: await server.newDatabase(), scattered: true },
    ];
    for (const { url, scattered } of lanes.slice(1)) {
      await fill(url, events, scattered === true ? "n * 2654435761 % 4294967296" : "n", progress);
    }
    await server.pool.query("CHECKPOINT");
    return { events, seconds, rounds, lifeCycles: await measureLifeCycles(server, lanes, context) };
  } finally {
    await server.stop();
  }
}

/** With events as retention leaves them: handled a week ago, without their payload. @param number gives the n-th id */
async function fill(url: string, events: number, number: string, progress: (text: string) => void): Promise<void> {
  const store = postgresStore({ connectionString: url });
  await store.open({ endpoint: ENDPOINT, clock: createManualClock(0) });
  await store.close(ENDPOINT);
  for (let from = 0; from < events; from += FILL_STEP) {
    await queryDatabase(
      url,
      `INSERT INTO signalbox.inbox (endpoint, event_id, type, state, due_at, received_at, token, owner, attempts, has_payload, body_hash)
       SELECT '${ENDPOINT}', 'signal_' || lpad((${number})::text, 10, '0'), 'signal.published', 'done', at, at, 1, 0, 1, false,
         sha256(n::text::bytea)
       FROM generate_series(${from}::bigint, ${Math.min(events, from + FILL_STEP) - 1}) n,
         LATERAL (SELECT (extract(epoch FROM now()) * 1000)::bigint - 8 * 86400000 AS at) a`,
    );
    progress(`postgres-scale  filled ${Math.min(events, from + FILL_STEP)} of ${events}`);
  }
  await queryDatabase(url, "VACUUM ANALYZE signalbox.inbox");
}

export function postgresScaleTable(result: Measured<PostgresScaleResult>): BenchTable {
  const { lifeCycles, rounds, seconds } = result;
  const notes = [`${formatRounds(rounds, seconds)} Each in turn for half a second. The events in the inbox are done.`];
  return lifeCycleTable("Life cycles with events in PostgreSQL", lifeCycles, describeMeasured(result), notes);
}
