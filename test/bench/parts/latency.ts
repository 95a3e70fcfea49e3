import type { LoadReport } from "../load/generator.js";
import type { OpenLoop } from "../load/open-loop.js";
import { formatCount, formatRounds, medianOf, nameOf, spreadOf } from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { Server } from "../servers/catalogue.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";
import { runServer, WARM_UP_REQUESTS, warmUp, type LoadOutcome } from "./run-server.js";

/** Near its limit a server only grows its queue, and the times say little about the server. */
const SHARE_OF_SLOWEST = 0.5;
/**
 * A generator that is later than this with more than one request in a hundred disturbs the
 * measurement.
 */
const LATE_MS = 1;

type Row = Measured<Server, LoadOutcome>;

/** How long an answer takes when requests come at a fixed rate that every server can sustain. */
export async function measureLatency(
  context: PartContext,
  requestsPerSecond: number,
): Promise<PartFindings> {
  const { generator, servers, rounds, seconds, connections, under, progress } = context;
  const count = Math.ceil(requestsPerSecond * seconds) + WARM_UP_REQUESTS;
  const rows = await inRounds(servers, rounds, async (server, round) => {
    await generator.ask("prepare", { count });
    const { value } = await runServer(server, { under }, async (running) => {
      await warmUp(running, context);
      return running.measure((port): Promise<LoadReport> => {
        const loop: OpenLoop = { port, connections, seconds, requestsPerSecond };
        return generator.ask("open loop", loop);
      });
    });
    const { p50, p99, p999 } = value.load.latency;
    progress(
      `latency ${round + 1}  ${server.name.padEnd(18)} at ${requestsPerSecond}/s  p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} p99.9 ${p999.toFixed(2)} ms  loop p99 ${value.loop.p99.toFixed(1)} max ${value.loop.max.toFixed(1)} ms`,
    );
    return value;
  });
  const table = makeTable<Row>(
    `Time to the answer at ${formatCount(requestsPerSecond)} requests per second`,
    rows,
    [
      ["", ({ value }) => nameOf(value)],
      [
        "p50 ms",
        (row) =>
          spreadOf(({ load }: LoadOutcome) => load.latency.p50)(row) + (isLate(row) ? " †" : ""),
      ],
      ["p99 ms", spreadOf(({ load }) => load.latency.p99)],
      ["p99.9 ms", spreadOf(({ load }) => load.latency.p999)],
      ["loop delay p99 ms", medianOf(({ loop }) => loop.p99)],
      ["max ms", medianOf(({ loop }) => loop.max)],
    ],
    [
      `${formatRounds(rounds, seconds)} Requests come at a fixed rate; the time runs from when each was due.`,
      // The nearest rank: no value between two measured ones.
      ...(requestsPerSecond * seconds < 1000
        ? ["Of fewer than 1,000 requests, p99.9 is the slowest."]
        : []),
      ...(rows.some(isLate)
        ? ["† The load generator was late with some of them: a busy machine."]
        : []),
    ],
  );
  return { tables: [table] };
}

const isLate = ({ results }: Row): boolean =>
  results.some(({ load }) => (load.lateP99 ?? 0) > LATE_MS);

/**
 * Half of what the slowest server takes.
 *
 * @param known the measured rate of each; without it, each server is tried once
 */
export async function chooseRate(context: PartContext, known?: readonly number[]): Promise<number> {
  const rates = [...(known ?? [])];
  if (known === undefined) {
    for (const server of context.servers) {
      context.progress(`latency    ${server.name.padEnd(18)} finding the rate`);
      const tries = await runClosedLoopRound({ ...context, seconds: 1 }, server);
      rates.push(tries.requestsPerSecond);
    }
  }
  const rate = Math.min(...rates) * SHARE_OF_SLOWEST;
  // Rounded down to two digits: 1 234 becomes 1 200.
  const step = 10 ** Math.max(0, Math.floor(Math.log10(rate)) - 1);
  return Math.max(1, Math.floor(rate / step) * step);
}
