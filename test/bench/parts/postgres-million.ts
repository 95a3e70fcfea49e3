import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "pg";
import { postgresStore } from "signalbox/stores/postgres";
import { createManualClock } from "signalbox/testing";
import { ENDPOINT } from "../endpoint.js";
import { FIRST_SENT } from "../load/events.js";
import type { ContenderSpec, Handled } from "../postgres/contender.js";
import { startOwnServer } from "../postgres/own-server.js";
import { startProcess } from "../processes/start-process.js";
import { formatCount, formatNumber, formatOptional } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import { percentile } from "../statistics.js";
import type { PartContext } from "./part-context.js";

const STEP = 100_000;
const STEPS = 10;
/** Then so many steps while another transaction is open, and so many after it. */
const STEPS_HELD = 3;
const STEPS_AFTER = 3;
/** Retention of a month, in seconds. */
const PAYLOADS_OLDER_THAN_MS = 2000;
const KEYS_OLDER_THAN_MS = 6000;
const PRUNE_LIMIT = 500;

/** Whether commits stay as fast, and the tables as small, while a million events come and go. */
export async function measurePostgresMillion({
  under,
  progress,
}: PartContext): Promise<PartFindings> {
  const server = await startOwnServer(under);
  const url = await server.newDatabase();
  const child = startProcess("postgres/contender.js", {
    name: "signalbox",
    url,
  } satisfies ContenderSpec);
  const store = postgresStore({ connectionString: url });
  await store.open({ endpoint: ENDPOINT, clock: createManualClock(0) });
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  const over = new AbortController();
  let pruned = 0;
  const pruning = (async () => {
    while (!over.signal.aborted) {
      const ages = {
        payloadsOlderThanMs: PAYLOADS_OLDER_THAN_MS,
        keysOlderThanMs: KEYS_OLDER_THAN_MS,
      };
      const { payloads, keys } = await store.prune({
        endpoint: ENDPOINT,
        ...ages,
        limit: PRUNE_LIMIT,
      });
      pruned += keys;
      if (payloads + keys < PRUNE_LIMIT) await delay(100);
    }
  })();
  let from = FIRST_SENT;

  async function step(phase: string) {
    const prunedBefore = pruned;
    const cpuBefore = server.cpuMs();
    const commitMs: number[] = [];
    let events = 0;
    let elapsedMs = 0;
    while (events < STEP) {
      const handled = await child.ask<Handled>("handle", { from, ms: 500 });
      from += handled.events;
      events += handled.events;
      elapsedMs += handled.elapsedMs;
      commitMs.push(...handled.commitMs);
    }
    commitMs.sort((a, b) => a - b);
    const { rows } = await pool.query<Record<"rows" | "dead" | "bytes", string>>(
      `SELECT (SELECT count(*) FROM signalbox.inbox) AS rows,
        sum(n_dead_tup) AS dead, sum(pg_total_relation_size(relid)) AS bytes
       FROM pg_stat_user_tables WHERE schemaname = 'signalbox'`,
    );
    const row = {
      phase,
      events: from - FIRST_SENT,
      eventsPerSecond: (events / elapsedMs) * 1000,
      p50: percentile(commitMs, 50),
      p99: percentile(commitMs, 99),
      serverCpuMicros:
        cpuBefore === null ? null : (((server.cpuMs() ?? Number.NaN) - cpuBefore) * 1000) / events,
      prunedPerSecond: ((pruned - prunedBefore) / elapsedMs) * 1000,
      rows: Number(rows[0]?.rows),
      deadRows: Number(rows[0]?.dead),
      bytes: Number(rows[0]?.bytes),
    };
    progress(`postgres-million  ${row.events} ${phase}  ${row.eventsPerSecond.toFixed(0)}/s`);
    return row;
  }

  try {
    const rows: Awaited<ReturnType<typeof step>>[] = [];
    for (let n = 0; n < STEPS; n++) rows.push(await step("alone"));
    const holder = await pool.connect();
    await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await holder.query("SELECT txid_current()");
    for (let n = 0; n < STEPS_HELD; n++) rows.push(await step("a transaction is open"));
    await holder.query("COMMIT");
    holder.release();
    for (let n = 0; n < STEPS_AFTER; n++) rows.push(await step("after it"));
    const [first, last] = [rows[0]?.p50 ?? Number.NaN, rows[STEPS - 1]?.p50 ?? Number.NaN];
    const table = makeTable(
      "A million life cycles in PostgreSQL",
      // The first and the fifth step, and the last of each phase.
      rows.filter(
        ({ phase }, index) => index === 0 || index === 4 || rows[index + 1]?.phase !== phase,
      ),
      [
        ["", (row) => row.phase],
        ["events so far", (row) => formatCount(row.events)],
        ["events/s", (row) => formatNumber(row.eventsPerSecond)],
        ["commit p50 ms", (row) => formatNumber(row.p50)],
        ["p99 ms", (row) => formatNumber(row.p99)],
        ["server CPU µs", (row) => formatOptional(row.serverCpuMicros)],
        ["deleted/s", (row) => formatNumber(row.prunedPerSecond)],
        ["rows", (row) => formatCount(row.rows)],
        ["dead rows", (row) => formatCount(row.deadRows)],
        ["size", (row) => `${(row.bytes / 1e6).toFixed(0)} MB`],
      ],
      [
        `64 events in each commit. At the same time retention deletes payloads after ${PAYLOADS_OLDER_THAN_MS / 1000} s and events after ${KEYS_OLDER_THAN_MS / 1000} s.`,
        `Each row is about the ${formatCount(STEP)} events before it. Median commit of the tenth ${formatCount(STEP)} / of the first: ${formatNumber(last / first)}.`,
      ],
    );
    return { tables: [table] };
  } finally {
    over.abort();
    await pruning;
    await child.stop();
    await store.close(ENDPOINT);
    await pool.end();
    await server.stop();
  }
}
