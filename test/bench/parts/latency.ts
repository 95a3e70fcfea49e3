import type { LoadReport } from "../load/generator.js";
import type { OpenLoop } from "../load/open-loop.js";
import type { LatencyResult, LatencyRow } from "../result.js";
import type { Server } from "../servers/catalogue.js";
import { spread, type Spread } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { rotated, type PartContext } from "./part-context.js";
import { runServer, type LoadOutcome } from "./run-server.js";
import { WARM_UP_REQUESTS, warmUp } from "./warm-up.js";

/** What the rest of the time is for: a queue that a server never gets rid of would say nothing of it. */
const SHARE_OF_SLOWEST = 0.5;

/** How long an answer takes when requests come at a fixed rate that every server can bear. */
export async function measureLatency(context: PartContext, requestsPerSecond: number): Promise<LatencyResult> {
  const { generator, servers, rounds, seconds, connections, under, progress } = context;
  const measured = new Map<string, LoadOutcome[]>(servers.map(({ name }) => [name, []]));
  const count = Math.ceil(requestsPerSecond * seconds) + WARM_UP_REQUESTS;
  for (let round = 0; round < rounds; round++) {
    for (const server of rotated(servers, round)) {
      await generator.ask("prepare", { count });
      const { value } = await runServer(server, { under }, async (running) => {
        await warmUp(running, context);
        return running.measure((port): Promise<LoadReport> => {
          const loop: OpenLoop = { port, connections, seconds, requestsPerSecond };
          return generator.ask("open loop", loop);
        });
      });
      measured.get(server.name)?.push(value);
      const { p50, p99, p999 } = value.load.latency;
      progress(
        `latency ${round + 1}  ${server.name.padEnd(18)} at ${requestsPerSecond}/s  p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} p99.9 ${p999.toFixed(2)} ms  loop p99 ${value.loop.p99.toFixed(1)} max ${value.loop.max.toFixed(1)} ms`,
      );
    }
  }
  const rows = servers.map((server) => toRow(server, measured.get(server.name) ?? []));
  return { requestsPerSecond, connections, seconds, rounds, rows };
}

function toRow({ name, label }: Server, rounds: LoadOutcome[]): LatencyRow {
  const over = (valueOf: (round: LoadOutcome) => number): Spread => spread(rounds.map(valueOf));
  return {
    server: name,
    label,
    p50: over(({ load }) => load.latency.p50),
    p99: over(({ load }) => load.latency.p99),
    p999: over(({ load }) => load.latency.p999),
    max: over(({ load }) => load.latency.max),
    loopP99: over(({ loop }) => loop.p99),
    loopMax: over(({ loop }) => loop.max),
    generatorLateP99: Math.max(...rounds.map(({ load }) => load.lateP99 ?? 0)),
  };
}

/**
 * Half of what the slowest server takes.
 *
 * @param known what each was measured to take; without it, each is tried once
 */
export async function chooseRate(
  context: PartContext,
  known?: readonly { requestsPerSecond: Spread }[],
): Promise<number> {
  const rates = known?.map(({ requestsPerSecond }) => requestsPerSecond.median) ?? [];
  if (known === undefined) {
    for (const server of context.servers) {
      context.progress(`latency    ${server.name.padEnd(18)} looking for the rate`);
      const tries = await runClosedLoopRound({ ...context, seconds: 1 }, server);
      rates.push(tries.requestsPerSecond);
    }
  }
  return roundDown(Math.min(...rates) * SHARE_OF_SLOWEST);
}

/** To two digits: 1 234 becomes 1 200. */
function roundDown(rate: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(rate)) - 1);
  return Math.max(1, Math.floor(rate / step) * step);
}
