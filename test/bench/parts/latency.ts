import type { LoadReport } from "../load/generator.js";
import type { OpenLoop } from "../load/open-loop.js";
import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed } from "../servers/catalogue.js";
import { medians, spreads, type Spread } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";
import { runServer, WARM_UP_REQUESTS, warmUp } from "./run-server.js";

/** Near its limit a server only grows its queue, and the times say little about the server. */
const SHARE_OF_SLOWEST = 0.5;

export type LatencyResult = Awaited<ReturnType<typeof measureLatency>>;

/** How long an answer takes when requests come at a fixed rate that every server can sustain. */
export async function measureLatency(context: PartContext, requestsPerSecond: number) {
  const { generator, servers, rounds, seconds, connections, under, progress } = context;
  const count = Math.ceil(requestsPerSecond * seconds) + WARM_UP_REQUESTS;
  const measured = await inRounds(servers, rounds, async (server, round) => {
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
  const rows = measured.map(({ value: { name }, results }) => ({
    server: name,
    ...spreads(results, {
      p50: ({ load }) => load.latency.p50,
      p99: ({ load }) => load.latency.p99,
      p999: ({ load }) => load.latency.p999,
    }),
    ...medians(results, {
      loopP99: ({ loop }) => loop.p99,
      loopMax: ({ loop }) => loop.max,
    }),
    generatorLateP99: Math.max(...results.map(({ load }) => load.lateP99 ?? 0)),
  }));
  return { requestsPerSecond, connections, seconds, rounds, rows };
}

/**
 * Half of what the slowest server takes.
 *
 * @param known the measured rate of each; without it, each server is tried once
 */
export async function chooseRate(
  context: PartContext,
  known?: readonly { requestsPerSecond: Spread }[],
): Promise<number> {
  const rates = known?.map(({ requestsPerSecond }) => requestsPerSecond.median) ?? [];
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

/** A generator that is later than this with more than one request in a hundred disturbs the measurement. */
const LATE_MS = 1;

export function latencyTable(result: Measured<LatencyResult>): BenchTable {
  const { rows, requestsPerSecond, seconds, rounds } = result;
  const isLate = ({ generatorLateP99 }: (typeof rows)[number]): boolean => generatorLateP99 > LATE_MS;
  return {
    title: `Time to the answer at ${requestsPerSecond.toLocaleString("en-US")} requests per second`,
    columns: ["", "p50 ms", "p99 ms", "p99.9 ms", "loop delay p99 ms", "max ms"],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        formatSpread(row.p50) + (isLate(row) ? " †" : ""),
        formatSpread(row.p99),
        formatSpread(row.p999),
        formatNumber(row.loopP99),
        formatNumber(row.loopMax),
      ],
      isOurs: serverNamed(row.server).isOurs,
    })),
    notes: [
      `${formatRounds(rounds, seconds)} Requests come at a fixed rate; the time runs from when each was due.`,
      // The nearest rank: no value between two measured ones.
      ...(requestsPerSecond * seconds < 1000 ? ["Of fewer than 1,000 requests, p99.9 is the slowest."] : []),
      ...(rows.some(isLate) ? ["† The load generator was late with some of them: a busy machine."] : []),
    ],
    measured: describeMeasured(result),
  };
}
