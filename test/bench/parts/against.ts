import { rmSync } from "node:fs";
import { POSTGRES_BINARIES } from "../../own-postgres.js";
import { startOwnServer } from "../postgres/own-server.js";
import { buildCommit } from "../processes/build-commit.js";
import { startProcess } from "../processes/start-process.js";
import { formatRounds, ratioTo, spreadOf } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import { serverNamed, type Server } from "../servers/servers.js";
import { inRounds, type PartContext } from "./part-context.js";
import { cpuOf, rateOf, runRound, type Round, type RoundOptions } from "./run-round.js";

interface Workload extends Pick<RoundOptions, "bodyBytes" | "burst"> {
  server: Server;
  label: string;
}

/** What is measured of both commits, without other wishes. */
const USUAL: readonly (Omit<Workload, "server"> & { server: string })[] = [
  { server: "signalbox-node", label: "node:http" },
  { server: "signalbox-node", label: "node:http, a burst of 5,000", burst: 5000 },
  { server: "signalbox-node", label: "node:http, bodies of 20 KB", bodyBytes: 20_000 },
  { server: "signalbox-node", label: "node:http, bodies of 200 KB", bodyBytes: 200_000 },
  { server: "signalbox-stripe", label: "node:http, Stripe" },
  { server: "signalbox-github", label: "node:http, GitHub" },
  { server: "signalbox-express5", label: "Express 5" },
  { server: "signalbox-postgres", label: "Express 5, postgresStore" },
];

/**
 * This signalbox and that of another commit in turn, held to one core.
 *
 * @param chosen the servers to compare, with the usual load; absent: the usual workloads
 */
export async function measureAgainst(
  context: PartContext,
  commit: string,
  chosen: readonly Server[] | undefined,
): Promise<PartFindings> {
  const { rounds, seconds, connections, under, progress } = context;
  const workloads: Workload[] =
    chosen?.map((server) => ({ server, label: server.label })) ??
    USUAL.map((each) => ({ ...each, server: serverNamed(each.server) }));
  progress(`against  building ${commit}`);
  const root = buildCommit(commit);
  const generator = startProcess("load/generator.js", {}, { core: 1 });
  const postgres = POSTGRES_BINARIES === undefined ? null : await startOwnServer(under);
  try {
    const rows = [];
    for (const workload of workloads) {
      const { server, label } = workload;
      const isPostgres = server.keeps?.file === undefined;
      if (isPostgres && postgres === null) {
        progress(`${label}  skipped: PostgreSQL is not installed`);
        continue;
      }
      const both = [server, { ...server, root }];
      const [own, other] = await inRounds(both, rounds, async (each, round) =>
        runRound(
          `${each === server ? "this one" : commit} ${round + 1}`,
          { ...context, generator },
          each,
          {
            ...workload,
            core: 0,
            ...(isPostgres && { database: await postgres?.newDatabase() }),
          },
        ),
      );
      rows.push({ label, results: own?.results ?? [], other: other?.results ?? [] });
    }
    type Row = (typeof rows)[number];
    const compared = (figure: (round: Round) => number) => (row: Row) =>
      ratioTo(figure, row.other)(row);
    const table = makeTable<Row>(
      `Against ${commit}, on one core, ${connections} connections`,
      rows,
      [
        ["", ({ label }) => label],
        ["requests/s", spreadOf(rateOf)],
        ["× its requests/s", compared(rateOf)],
        ["CPU µs/request", spreadOf(cpuOf)],
        ["× its CPU", compared(cpuOf)],
        [
          "× its bytes at the disk",
          compared((round) => round.writtenBytesPerRequest ?? Number.NaN),
        ],
        ["p99 / p50", spreadOf(({ load }) => load.latency.p99 / load.latency.p50)],
        ["× its longest stall", compared(({ loop }) => loop.max)],
      ],
      [`${formatRounds(rounds, seconds)} Ratios are taken in each round, then their median.`],
    );
    return { tables: [table] };
  } finally {
    await postgres?.stop();
    await generator.stop();
    rmSync(root, { recursive: true, force: true });
  }
}
