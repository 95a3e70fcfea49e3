import type { ClosedLoop } from "../load/closed-loop.js";
import type { LoadReport } from "../load/generator.js";
import type { RequestSpec } from "../load/signed-requests.js";
import type { Server } from "../servers/catalogue.js";
import type { PartContext } from "./part-context.js";
import {
  runServer,
  WARM_UP_REQUESTS,
  warmUp,
  type LoadOutcome,
  type RunServerOptions,
  type ServerRun,
} from "./run-server.js";

/**
 * More than any server here answers in a second. A server that answers them sooner has a shorter
 * round.
 */
const REQUESTS_PER_SECOND = 40_000;
const MOST_REQUESTS = 250_000;

export interface ClosedLoopRound extends ServerRun<LoadOutcome> {
  requestsPerSecond: number;
  cpuMicrosPerRequest: number;
  writtenBytesPerRequest: number | null;
}

export const rateOf = (round: ClosedLoopRound): number => round.requestsPerSecond;

/** The line that tells of it. */
export function describeRound(
  part: string,
  round: number,
  name: string,
  { requestsPerSecond, cpuMicrosPerRequest, value }: ClosedLoopRound,
): string {
  const { load, loop, drainMs } = value;
  return [
    `${part} ${round + 1}  ${name.padEnd(18)} ${requestsPerSecond.toFixed(0).padStart(6)}/s`,
    `cpu ${cpuMicrosPerRequest.toFixed(1)} µs`,
    `p50 ${load.latency.p50.toFixed(1)} p99 ${load.latency.p99.toFixed(1)} ms`,
    `loop p99 ${loop.p99.toFixed(1)} max ${loop.max.toFixed(1)} ms`,
    `drain ${drainMs.toFixed(0)} ms`,
    `generator ${(load.generatorBusy * 100).toFixed(0)} %`,
  ].join("  ");
}

/** One server once: started, warmed up, given as much as it takes, stopped, checked. */
export async function runClosedLoopRound(
  context: Pick<PartContext, "generator" | "seconds" | "connections" | "under">,
  server: Server,
  { serial = 0, ...options }: Partial<RunServerOptions & Omit<RequestSpec, "count">> = {},
): Promise<ClosedLoopRound> {
  const { generator, seconds, connections, under } = context;
  const count = Math.min(
    MOST_REQUESTS,
    Math.ceil(seconds * REQUESTS_PER_SECOND) + WARM_UP_REQUESTS,
  );
  await generator.ask("prepare", { count, serial } satisfies RequestSpec);
  const run = await runServer(server, { under, ...options }, async (running) => {
    // Never more than its share of the requests, so that most are left for the measurement.
    await warmUp(running, context, Math.min(WARM_UP_REQUESTS, Math.ceil(count / 5)));
    return running.measure((port): Promise<LoadReport> => {
      const loop: ClosedLoop = { port, connections, seconds, most: count };
      return generator.ask("closed loop", loop);
    });
  });
  const { load, cpuMs, writtenBytes } = run.value;
  return {
    ...run,
    requestsPerSecond: (load.answered / load.elapsedMs) * 1000,
    cpuMicrosPerRequest: (cpuMs * 1000) / load.answered,
    writtenBytesPerRequest: writtenBytes === null ? null : writtenBytes / load.answered,
  };
}
