import { POSTGRES_BINARIES } from "../own-postgres.js";
import { describeMachine } from "./machine.js";
import type { BenchOptions, Part } from "./options.js";
import { measureAgainst } from "./parts/against.js";
import {
  measureLatency,
  measureOneCore,
  measureScaleEvents,
  measureSlowDisk,
  measureThroughput,
} from "./parts/load-parts.js";
import { measureOrder } from "./parts/order.js";
import type { PartContext } from "./parts/part-context.js";
import { measurePostgresMillion } from "./parts/postgres-million.js";
import { measurePostgres } from "./parts/postgres.js";
import { measureSearch } from "./parts/search.js";
import { measureVerification } from "./parts/verification.js";
import type { BenchProcess } from "./processes/start-process.js";
import { describeMeasured } from "./report/format.js";
import type { BenchResult, PartFindings } from "./report/tables.js";
import { SERVERS, serverNamed } from "./servers/servers.js";

/** The servers that a part compares by default. */
const ON_ONE_CORE = [
  "node-nothing",
  "node-verified",
  "signalbox-node",
  "express-nothing",
  "signalbox-express5",
];
const ON_SLOW_DISK = ["express-nothing", "signalbox-express5", "signalbox-node", "express-insert"];
const AT_SCALE = ["signalbox-express5", "signalbox-node"];

export interface RunOptions {
  options: BenchOptions;
  generator: BenchProcess;
  under: string;
  progress: (text: string) => void;
}

/** Runs the wanted parts, one after the other. */
export async function runParts({
  options,
  generator,
  under,
  progress,
}: RunOptions): Promise<BenchResult> {
  const { only, rounds, seconds, connections, events } = options;
  const machine = describeMachine(under);
  const context = (usual: readonly string[]): PartContext => ({
    generator,
    servers: options.servers ?? usual.map(serverNamed),
    rounds,
    seconds,
    connections,
    machine,
    under,
    progress,
  });
  const all = context(SERVERS.map(({ name }) => name));
  // Few long rounds show the slowest answers better than many short ones.
  const fewer = { rounds: Math.ceil(rounds / 2) };
  const result: BenchResult = {};

  const measure: Record<Part, () => Promise<PartFindings>> = {
    throughput: () => measureThroughput(all),
    latency: () => {
      const rates = result.throughput?.chart?.bars.map(({ value }) => value);
      return measureLatency({ ...all, ...fewer }, rates);
    },
    "one-core": () => measureOneCore(context(ON_ONE_CORE)),
    "slow-disk": () => measureSlowDisk({ ...context(ON_SLOW_DISK), ...fewer }),
    verify: () => measureVerification(all),
    "scale-events": () => {
      // The other servers have no inbox to fill.
      const servers = context(AT_SCALE).servers.filter(({ isOurs }) => isOurs);
      if (servers.length === 0) throw new Error("scale-events needs a server of signalbox");
      return measureScaleEvents({ ...all, servers }, events);
    },
    postgres: () => measurePostgres(all),
    "postgres-million": () => measurePostgresMillion(all),
    search: () => measureSearch(all, events),
    order: () => measureOrder(all),
    against: () => measureAgainst(all, options.against ?? "", options.servers),
  };
  for (const part of only) {
    if (part.startsWith("postgres") && POSTGRES_BINARIES === undefined) {
      progress(`${part}  skipped: PostgreSQL is not installed`);
      continue;
    }
    result[part] = { measured: describeMeasured(new Date(), machine), ...(await measure[part]()) };
  }
  return result;
}
