// The load generator: a process of its own, which does as little as it can while the clock runs.
import { answerQuestions } from "../processes/questions.js";
import { percentile } from "../statistics.js";
import { FIRST_SENT, makeSignedRequest } from "./events.js";
import { runLoad, type Load, type LoadResult } from "./run-load.js";

export interface RequestSpec {
  count: number;
  /** 0: as long as those of the fixtures. */
  bodyBytes: number;
  /** Differs from the last one where the same requests must not be used again. */
  serial: number;
}

export interface LoadReport extends Omit<LoadResult, "latenciesMs" | "lateMs"> {
  /** NaN becomes null on its way: without a rate nothing is late. */
  lateP99: number | null;
  latency: { p50: number; p99: number; p999: number };
}

/**
 * Half of what a receiver tolerates, so that none is too old when the last server of a round gets
 * it.
 */
const MAX_AGE_MS = 120_000;

let requests: Buffer[] = [];
let madeFor = "";
let madeAt = 0;
/** Ids are never used twice in one run of the generator. */
let nextEvent = FIRST_SENT;
/** The first request that the present server has not had yet. */
let next = 0;

answerQuestions({
  /** For a new server, which has seen none of them. */
  prepare(spec: RequestSpec) {
    next = 0;
    const key = JSON.stringify(spec);
    if (key === madeFor && Date.now() - madeAt < MAX_AGE_MS) return;
    madeFor = key;
    madeAt = Date.now();
    const timestamp = Math.floor(madeAt / 1000);
    requests = Array.from({ length: spec.count }, () =>
      makeSignedRequest(nextEvent++, timestamp, spec.bodyBytes),
    );
  },
  async load(load: Load): Promise<LoadReport> {
    const { latenciesMs, lateMs, ...rest } = await runLoad(requests.slice(next), load);
    next += rest.sent;
    const [p50, p99, p999] = [50, 99, 99.9].map((percent) => percentile(latenciesMs, percent)) as [
      number,
      number,
      number,
    ];
    return { ...rest, lateP99: percentile(lateMs, 99), latency: { p50, p99, p999 } };
  },
});
