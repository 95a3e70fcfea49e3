import { Command, InvalidArgumentError, Option } from "commander";
import { SERVERS, serverNamed, type Server } from "./servers/servers.js";

export const PARTS = [
  "throughput",
  "latency",
  "one-core",
  "slow-disk",
  "verify",
  "scale-events",
  "postgres",
  "postgres-million",
  "search",
  "order",
  "against",
] as const;
export type Part = (typeof PARTS)[number];

/** The others take long. */
const USUAL: readonly Part[] = PARTS.slice(0, 5).concat("postgres");

export interface BenchOptions {
  only: readonly Part[];
  /** Absent: each part has its own. */
  servers?: Server[];
  /** The commit of the part `against`. */
  against?: string;
  rounds: number;
  seconds: number;
  connections: number;
  events: number;
  dir?: string;
  json?: boolean;
  keep?: boolean;
}

const EXAMPLES = `
Examples:
  npm run bench                                        the usual parts, about fifteen minutes
  npm run bench -- --rounds 1 --seconds 1              a quick look
  npm run bench -- --only throughput --servers signalbox-express5,express-nothing
  npm run bench -- --only throughput --servers signalbox-express5,signalbox-sampled,signalbox-traced
                                                       what telemetry costs
  npm run bench -- --only throughput --servers hono-nothing,signalbox-hono
                                                       another framework; Fastify: fastify-nothing,signalbox-fastify
  npm run bench -- --only scale-events --events 500000 with a large inbox
  npm run bench -- --against HEAD~1                    what a change costs or saves
  npm run bench -- --only postgres                     with an inbox in PostgreSQL, beside job queues
  npm run --silent bench -- --json > result.json       for machines; progress goes to stderr
  npm run bench -- --keep                              keeps the result; npm run docs then writes its tables

Servers: ${SERVERS.map(({ name }) => name).join(", ")}
Parts: ${PARTS.slice(0, -1).join(", ")}; all

Every server runs in a process of its own. Another process sends all of them the same signed requests. An answer other
than 200, or an acknowledged event that is not in the server's file afterwards, fails the run.`;

/** Prints the help or the mistake, and then ends the process. */
export function parseOptions(argv: readonly string[]): BenchOptions {
  const options = new Command("npm run bench --")
    .description(
      "Measures signalbox beside Express alone and what others build on it, on this machine.",
    )
    .addOption(
      new Option("--only <parts>", "run these parts")
        .default(USUAL, USUAL.join(","))
        .argParser<readonly Part[]>(toParts),
    )
    .option(
      "--against <commit>",
      "build signalbox of another commit, and compare this one with it, in turn (the part against, alone)",
    )
    .option(
      "--servers <names>",
      "compare these servers (default: those that each part is meant for)",
      toServers,
    )
    .option("--rounds <n>", "rounds; their order of servers changes", toCount, 5)
    .option("--seconds <s>", "seconds for each server in each round", toPositive, 3)
    .option("--connections <n>", "connections, kept alive", toCount, 64)
    .option(
      "--events <n>",
      "events in the inbox for scale-events and search (there at most 1,000,000)",
      toCount,
      5_000_000,
    )
    .option(
      "--dir <folder>",
      "where the servers' files are made, on the disk to measure (default: in the repository)",
    )
    .option("--json", "print the result as JSON")
    .option(
      "--keep",
      "keep the result in test/bench/result.json, from which npm run docs writes docs/speed.md",
    )
    .addHelpText("after", EXAMPLES)
    .parse(argv)
    .opts<BenchOptions>();
  return options.against === undefined ? options : { ...options, only: ["against"] };
}

function toParts(text: string): Part[] {
  const known: readonly string[] = PARTS.slice(0, -1);
  const wanted = text === "all" ? known : text.split(",");
  for (const name of wanted)
    if (!known.includes(name)) throw new InvalidArgumentError(`There is no part ${name}.`);
  return PARTS.filter((part) => wanted.includes(part));
}

function toServers(text: string): Server[] {
  try {
    return text.split(",").map(serverNamed);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function toPositive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Infinity))
    throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

function toCount(text: string): number {
  const value = toPositive(text);
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
}
