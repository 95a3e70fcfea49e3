import { makeSlowDisk } from "../disk/slow-disk.js";
import { formatRounds, medianOf, nameOf, spreadOf } from "../report/format.js";
import { makeTable, type BenchTable, type PartFindings } from "../report/tables.js";
import { serverNamed, type Server } from "../servers/catalogue.js";
import {
  describeRound,
  rateOf,
  runClosedLoopRound,
  type ClosedLoopRound,
} from "./closed-loop-round.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";

const SYNC_MS = 8;

/** Whether a slow disk stops the event loop, and with it everything else that the host does. */
export async function measureSlowDisk(context: PartContext): Promise<PartFindings> {
  const { rounds, connections, under, progress } = context;
  const slow = await makeSlowDisk(under, SYNC_MS);
  const skipped = "skipped" in slow ? slow.skipped : undefined;
  if (skipped !== undefined) progress(`slow disk  skipped: ${skipped}`);
  const servers = "skipped" in slow ? [] : context.servers;
  const env = "skipped" in slow ? {} : slow.env;
  const rows = await inRounds(servers, rounds, async (server, round) => {
    const result = await runClosedLoopRound(context, server, { env });
    progress(describeRound("slow disk", round, server.name, result));
    return result;
  });
  const table = makeTable<Measured<Server, ClosedLoopRound>>(
    `A disk whose sync takes ${SYNC_MS} ms, ${connections} connections`,
    rows,
    [
      ["", ({ value }) => nameOf(value)],
      ["loop delay p99 ms", spreadOf(({ value }) => value.loop.p99)],
      ["max ms", spreadOf(({ value }) => value.loop.max)],
      ["requests/s", medianOf(rateOf)],
      ["answer p50 ms", medianOf(({ value }) => value.load.latency.p50)],
      ["p99 ms", medianOf(({ value }) => value.load.latency.p99)],
    ],
    [
      skipped === undefined
        ? `${formatRounds(rounds)} Loop delay: what comes at a random moment waits for the event loop.`
        : `Skipped: ${skipped}.`,
    ],
  );
  return { tables: "skipped" in slow ? [table] : [table, await measureLoads(context, slow.env)] };
}

const LOADS = [1, 16, 64].flatMap((connections) =>
  [false, true].map((isSerial) => ({ connections, isSerial })),
);
type Load = (typeof LOADS)[number];

/**
 * How much of a sync each answer takes, on a disk whose syncs overlap and on one whose syncs do
 * not.
 */
async function measureLoads(context: PartContext, env: NodeJS.ProcessEnv): Promise<BenchTable> {
  const { rounds, progress } = context;
  const rows = await inRounds(LOADS, rounds, async ({ connections, isSerial }, round) => {
    const result = await runClosedLoopRound(
      { ...context, connections },
      serverNamed("signalbox-node"),
      {
        env: isSerial ? { ...env, SLOW_SYNC_SERIAL: "1" } : env,
      },
    );
    progress(describeRound("slow disk", round, describe({ connections, isSerial }), result));
    return result;
  });
  return makeTable<Measured<Load, ClosedLoopRound>>(
    `signalbox on node:http, a disk whose sync takes ${SYNC_MS} ms`,
    rows,
    [
      ["", ({ value }) => nameOf({ label: describe(value), isOurs: !value.isSerial })],
      ["requests/s", spreadOf(rateOf)],
      ["answer p50 ms", medianOf(({ value }) => value.load.latency.p50)],
      ["p99 ms", medianOf(({ value }) => value.load.latency.p99)],
      [
        "share of a sync for each answer",
        (row) =>
          spreadOf(
            (round: ClosedLoopRound) => (rateOf(round) * SYNC_MS) / 1000 / row.value.connections,
          )(row),
      ],
    ],
    [
      `${formatRounds(rounds)} Share: requests/s × ${SYNC_MS / 1000} s / connections. With 1, no answer waits longer than its sync.`,
    ],
  );
}

function describe({ connections, isSerial }: Load): string {
  return `${connections} ${connections === 1 ? "connection" : "connections"}${isSerial ? ", syncs cannot overlap" : ""}`;
}
