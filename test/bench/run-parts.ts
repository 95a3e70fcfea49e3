import { describeMachine } from "./machine.js";
import type { BenchOptions } from "./options.js";
import { chooseRate, latencyTable, measureLatency, type LatencyResult } from "./parts/latency.js";
import { measureOneCore, oneCoreTable, type OneCoreResult } from "./parts/one-core.js";
import type { PartContext } from "./parts/part-context.js";
import { measurePostgresMillion, postgresMillionTable, type PostgresMillionResult } from "./parts/postgres-million.js";
import { measurePostgresScale, postgresScaleTable, type PostgresScaleResult } from "./parts/postgres-scale.js";
import { measurePostgres, postgresTables, type PostgresResult } from "./parts/postgres.js";
import { measureScaleBodies, scaleBodiesTable, type ScaleBodiesResult } from "./parts/scale-bodies.js";
import { measureScaleEvents, scaleEventsTable, type ScaleEventsResult } from "./parts/scale-events.js";
import { measureScaleMemory, scaleMemoryTable, type ScaleMemoryResult } from "./parts/scale-memory.js";
import { measureSearch, searchTable, type SearchResult } from "./parts/search.js";
import { measureSlowDisk, slowDiskTables, type SlowDiskResult } from "./parts/slow-disk.js";
import { measureThroughput, throughputTables, type ThroughputResult } from "./parts/throughput.js";
import { measureVerification, verificationTable, type VerificationResult } from "./parts/verification.js";
import type { BenchProcess } from "./processes/start-process.js";
import type { Measured } from "./report/format.js";
import type { BenchTable } from "./report/tables.js";
import { findPostgres } from "./postgres/own-server.js";
import { SERVERS, serverNamed } from "./servers/catalogue.js";

/** The result of a run, as `--json` prints it and `result.json` keeps it. A part that did not run is left out. */
export interface BenchResult {
  throughput?: Measured<ThroughputResult>;
  latency?: Measured<LatencyResult>;
  oneCore?: Measured<OneCoreResult>;
  verification?: Measured<VerificationResult>;
  slowDisk?: Measured<SlowDiskResult>;
  scaleEvents?: Measured<ScaleEventsResult>;
  scaleBodies?: Measured<ScaleBodiesResult>;
  scaleMemory?: Measured<ScaleMemoryResult>;
  postgres?: Measured<PostgresResult>;
  postgresScale?: Measured<PostgresScaleResult>;
  postgresMillion?: Measured<PostgresMillionResult>;
  search?: Measured<SearchResult>;
}

/** The tables of a result, in the order in which they are read. */
export function tablesOf(result: BenchResult): BenchTable[] {
  const { throughput, latency, oneCore, slowDisk, verification, scaleEvents, scaleBodies, scaleMemory } = result;
  const { postgres, postgresScale, postgresMillion, search } = result;
  return [
    ...(throughput ? throughputTables(throughput) : []),
    ...(latency ? [latencyTable(latency)] : []),
    ...(oneCore ? [oneCoreTable(oneCore)] : []),
    ...(slowDisk ? slowDiskTables(slowDisk) : []),
    ...(verification ? [verificationTable(verification)] : []),
    ...(scaleEvents ? [scaleEventsTable(scaleEvents)] : []),
    ...(scaleBodies ? [scaleBodiesTable(scaleBodies)] : []),
    ...(scaleMemory ? [scaleMemoryTable(scaleMemory)] : []),
    ...(postgres ? postgresTables(postgres) : []),
    ...(postgresScale ? [postgresScaleTable(postgresScale)] : []),
    ...(postgresMillion ? [postgresMillionTable(postgresMillion)] : []),
    ...(search ? [searchTable(search)] : []),
  ];
}

/** The servers that a part compares by default. */
const ON_ONE_CORE = ["node-nothing", "node-verified", "signalbox-node", "express-nothing", "signalbox-express5"];
const ON_SLOW_DISK = ["express-nothing", "signalbox-express5", "signalbox-node", "express-insert"];
const AT_SCALE = ["signalbox-express5", "signalbox-node"];
const OVER_TIME = "signalbox-express5";

export interface RunOptions {
  options: BenchOptions;
  generator: BenchProcess;
  under: string;
  progress: (text: string) => void;
}

/** Runs the wanted parts, one after the other. */
export async function runParts({ options, generator, under, progress }: RunOptions): Promise<BenchResult> {
  const { only, rounds, seconds, connections } = options;
  const machine = describeMachine(under);
  const measured = <Result extends object>(result: Result): Measured<Result> => ({
    at: new Date().toISOString(),
    machine,
    ...result,
  });
  const context = (usual: readonly string[]): PartContext => ({
    generator,
    servers: options.servers ?? usual.map(serverNamed),
    rounds,
    seconds,
    connections,
    under,
    progress,
  });
  const all = context(SERVERS.map(({ name }) => name));
  // Few long rounds show the slowest answers better than many short ones.
  const fewer = { rounds: Math.ceil(rounds / 2) };
  const result: BenchResult = {};

  for (const part of only) {
    if (part.startsWith("postgres") && findPostgres() === undefined) {
      progress(`${part}  skipped: PostgreSQL is not installed`);
      continue;
    }
    switch (part) {
      case "throughput":
        result.throughput = measured(await measureThroughput(all));
        break;
      case "latency": {
        const rate = await chooseRate(all, result.throughput?.rows);
        result.latency = measured(await measureLatency({ ...all, ...fewer }, rate));
        break;
      }
      case "one-core":
        result.oneCore = measured(await measureOneCore(context(ON_ONE_CORE)));
        break;
      case "slow-disk":
        result.slowDisk = measured(await measureSlowDisk({ ...context(ON_SLOW_DISK), ...fewer }));
        break;
      case "verify":
        result.verification = measured(await measureVerification(all));
        break;
      case "scale-events": {
        // The other servers have no inbox to fill.
        const servers = context(AT_SCALE).servers.filter(({ isOurs }) => isOurs);
        if (servers.length === 0) throw new Error("scale-events needs a server of signalbox");
        result.scaleEvents = measured(await measureScaleEvents({ ...all, servers }, options.events));
        break;
      }
      case "scale-bodies":
        result.scaleBodies = measured(await measureScaleBodies(context(AT_SCALE)));
        break;
      case "scale-memory": {
        const [server] = context([OVER_TIME]).servers;
        if (server !== undefined) result.scaleMemory = measured(await measureScaleMemory(all, server));
        break;
      }
      case "postgres":
        result.postgres = measured(await measurePostgres(all));
        break;
      case "postgres-scale":
        result.postgresScale = measured(await measurePostgresScale(all, options.events));
        break;
      case "postgres-million":
        result.postgresMillion = measured(await measurePostgresMillion(all));
        break;
      case "search":
        result.search = measured(await measureSearch(all, options.events));
        break;
    }
  }
  return result;
}
