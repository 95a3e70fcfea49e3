import { execFileSync } from "node:child_process";
import { startProcess } from "../processes/start-process.js";
import { formatRounds, medianOf, nameOf, ratioTo, spreadOf } from "../report/format.js";
import { makeTable, type Column, type PartFindings } from "../report/tables.js";
import { serverNamed, type Server } from "../servers/catalogue.js";
import {
  describeRound,
  rateOf,
  runClosedLoopRound,
  type ClosedLoopRound,
} from "./closed-loop-round.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";

const SERVER_CORE = 0;
const GENERATOR_CORE = 1;

/** Each of our servers is compared with its own framework. */
const BASELINES = new Map([
  ["signalbox-express5", "express-nothing"],
  ["signalbox-express4", "express-nothing"],
  ["signalbox-node", "node-nothing"],
  ["node-verified", "node-nothing"],
]);
/** What everyone needs who keeps nothing: ours on `node:http` is compared with it too. */
const VERIFIED = "node-verified";
const ON_NODE = "signalbox-node";

type Row = Measured<Server, ClosedLoopRound>;

/**
 * As `throughput`, but neither the load generator nor other threads of the server lend it a second
 * core.
 */
export async function measureOneCore(context: PartContext): Promise<PartFindings> {
  const { rounds, seconds, connections, progress } = context;
  const skipped = whySkipped();
  if (skipped !== undefined) progress(`one core  skipped: ${skipped}`);
  const servers = skipped === undefined ? context.servers : [];
  const generator = startProcess("load/generator.js", {}, { core: GENERATOR_CORE });
  try {
    const rows = await inRounds(servers, rounds, async (server, round) => {
      const result = await runClosedLoopRound({ ...context, generator }, server, {
        core: SERVER_CORE,
      });
      progress(describeRound("one core", round, server.name, result));
      return result;
    });
    const of = (name: string) => rows.find(({ value }) => value.name === name)?.results;
    const verified = of(VERIFIED);
    const isCompared = of(ON_NODE) !== undefined && verified !== undefined;
    const toVerified: Column<Row> = [
      `× ${serverNamed(VERIFIED).label}`,
      (row) => (row.value.name === ON_NODE ? ratioTo(rateOf, verified)(row) : "–"),
    ];
    const table = makeTable<Row>(
      `The server held to one core, ${connections} connections`,
      rows,
      [
        ["", ({ value }) => nameOf(value)],
        ["requests/s", spreadOf(rateOf)],
        [
          "× its framework, does nothing",
          (row) => ratioTo(rateOf, of(BASELINES.get(row.value.name) ?? row.value.name))(row),
        ],
        ...(isCompared ? [toVerified] : []),
        ["CPU µs/request", medianOf((round) => round.cpuMicrosPerRequest)],
      ],
      [
        skipped === undefined
          ? `${formatRounds(rounds, seconds)} The load comes from another core. Ratios are taken in each round, then their median.`
          : `Skipped: ${skipped}.`,
      ],
    );
    return { tables: [table] };
  } finally {
    await generator.stop();
  }
}

function whySkipped(): string | undefined {
  try {
    execFileSync("taskset", ["-c", `${SERVER_CORE},${GENERATOR_CORE}`, "true"], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `no second core to be had with taskset: ${(error as Error).message}`;
  }
}
