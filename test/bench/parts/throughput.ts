import {
  formatMebibytes,
  formatOptional,
  formatRounds,
  medianOf,
  nameOf,
  ratioTo,
  spreadOf,
} from "../report/format.js";
import { barOf, makeTable, type PartFindings } from "../report/tables.js";
import { findBaseline, type Server } from "../servers/catalogue.js";
import { median, medianOrNull } from "../statistics.js";
import {
  describeRound,
  rateOf,
  runClosedLoopRound,
  type ClosedLoopRound,
} from "./closed-loop-round.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";

type Row = Measured<Server, ClosedLoopRound>;

/** As many requests as each server can take. */
export async function measureThroughput(context: PartContext): Promise<Required<PartFindings>> {
  const { servers, rounds, seconds, connections, machine, progress } = context;
  const rows = await inRounds(servers, rounds, async (server, round) => {
    const result = await runClosedLoopRound(context, server);
    progress(describeRound("throughput", round, server.name, result));
    return result;
  });
  const baseline = findBaseline(servers);
  const against = rows.find(({ value }) => value === baseline)?.results ?? [];
  const requests = makeTable<Row>(
    `Requests per second, ${connections} connections`,
    rows,
    [
      ["", ({ value }) => nameOf(value)],
      ["requests/s", (row) => spreadOf(rateOf)(row) + (isAtItsLimit(row) ? " †" : "")],
      [`× ${baseline.label}`, ratioTo(rateOf, against)],
      ["CPU µs/request", spreadOf(cpuOf)],
      ["× its CPU", ratioTo(cpuOf, against)],
    ],
    [
      `${formatRounds(rounds, seconds)} Ratios are taken in each round, then their median.`,
      "CPU is user and system time of the whole server process, with every hand-off.",
      ...(rows.some(isAtItsLimit)
        ? ["† The load generator was at its limit: the server can do more."]
        : []),
    ],
  );
  const cost = makeTable<Row>(
    "What that costs the process",
    rows,
    [
      ["", ({ value }) => nameOf(value)],
      ["loop delay p99 ms", medianOf(({ value }) => value.loop.p99)],
      ["max ms", medianOf(({ value }) => value.loop.max)],
      [
        "memory",
        ({ results }) => formatMebibytes(median(results.map(({ value }) => value.rssBytes))),
      ],
      ["bytes written/event", optionalOf((round) => round.writtenBytesPerRequest)],
      [
        "bytes kept/event",
        optionalOf((round, { keeps }) => keeps && round.fileBytes / round.acknowledged),
      ],
    ],
    [
      "In the same rounds, at full load: medians. Loop delay: what comes at a random moment waits for the event loop.",
      "Written: what the process caused at the disk, in whole pages. Kept: its files after it closed.",
    ],
  );
  const bars = rows.map(({ value: { label, isOurs, keeps }, results }) => {
    const bar = barOf(results.map(rateOf));
    return {
      label,
      ...bar,
      text: `${bar.text}, ${keeps === null ? "nothing" : "each"} on disk`,
      isOurs,
    };
  });
  const note = `Medians of ${rounds} rounds with their least and most, ${connections} connections, signed bodies of 700 bytes, ${machine.cores} cores.`;
  return { tables: [requests, cost], chart: { bars, note } };
}

const cpuOf = (round: ClosedLoopRound): number => round.cpuMicrosPerRequest;

function optionalOf(
  figure: (round: ClosedLoopRound, server: Server) => number | null,
): (row: Row) => string {
  return ({ value, results }) =>
    formatOptional(medianOrNull(results.map((round) => figure(round, value))));
}

/** Above this share of one core the generator itself may be the limit. */
const BUSY = 0.9;

function isAtItsLimit({ results }: Row): boolean {
  return results.some(({ value }) => value.load.generatorBusy > BUSY);
}
