// The load generator: a process of its own, which does as little as it can while the clock runs.
import { answerQuestions } from "../processes/questions.js";
import { percentile } from "../statistics.js";
import { runClosedLoop, type ClosedLoop } from "./closed-loop.js";
import type { LoadResult } from "./load-result.js";
import { runOpenLoop, type OpenLoop } from "./open-loop.js";
import { makeSignedRequests, type RequestSpec } from "./signed-requests.js";

/**
 * Half of what a receiver tolerates, so that none is too old when the last server of a round gets
 * it.
 */
const MAX_AGE_MS = 120_000;

let requests: Buffer[] = [];
let madeFor = "";
let madeAt = 0;
/** The first request that the present server has not had yet. */
let next = 0;

export interface LoadReport extends Omit<LoadResult, "latenciesMs" | "lateMs"> {
  /** NaN becomes null on its way: a closed loop is never late. */
  lateP99: number | null;
  latency: { p50: number; p99: number; p999: number };
}

function report({ latenciesMs, lateMs, ...rest }: LoadResult): LoadReport {
  next += rest.sent;
  return {
    ...rest,
    lateP99: percentile(lateMs, 99),
    latency: {
      p50: percentile(latenciesMs, 50),
      p99: percentile(latenciesMs, 99),
      p999: percentile(latenciesMs, 99.9),
    },
  };
}

answerQuestions(
  new Map<string, (input: never) => unknown>([
    [
      "prepare",
      // For a new server, which has seen none of them.
      (spec: RequestSpec) => {
        next = 0;
        const key = JSON.stringify(spec);
        if (key === madeFor && Date.now() - madeAt < MAX_AGE_MS) return;
        requests = makeSignedRequests(spec);
        madeFor = key;
        madeAt = Date.now();
      },
    ],
    [
      "closed loop",
      async (loop: ClosedLoop) => report(await runClosedLoop(requests.slice(next), loop)),
    ],
    ["open loop", async (loop: OpenLoop) => report(await runOpenLoop(requests.slice(next), loop))],
  ]),
);
