import { openConnection } from "./connection.js";
import { createMetronome } from "./metronome.js";

export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** Ends after so many requests, if not sooner. */
  most?: number;
  /** Absent: each connection sends its next request when the last one is answered. */
  requestsPerSecond?: number | undefined;
}

export interface LoadResult {
  sent: number;
  answered: number;
  /** Why a connection broke, or an answer was no 200. */
  failure: string | null;
  /** From the first request to the last answer. */
  elapsedMs: number;
  /** The generator's own use of one core, 0 to 1 and a little above: threads count too. */
  generatorBusy: number;
  /**
   * How late the generator itself was with what had a free connection, sorted. Without a rate there
   * is no schedule.
   */
  lateMs: Float64Array;
  /** Sorted. */
  latenciesMs: Float64Array;
}

interface Lane {
  connection?: Awaited<ReturnType<typeof openConnection>>;
  sentAt: number;
}

/** Above this rate several requests come with one tick. */
const SHORTEST_TICK_MS = 0.2;

/**
 * With a rate, requests arrive at it, whatever the server does, and wait if no connection is free. A
 * latency then runs from the moment at which the request was due, so that a request behind a stall
 * counts its whole wait (no coordinated omission). Ends after the last answer.
 */
export async function runLoad(
  requests: readonly Buffer[],
  { port, connections, seconds, most = Infinity, requestsPerSecond }: Load,
): Promise<LoadResult> {
  const gapMs = requestsPerSecond === undefined ? null : 1000 / requestsPerSecond;
  const due = gapMs === null ? Infinity : Math.round((seconds * 1000) / gapMs);
  const count = Math.min(requests.length, most, due);
  const latencies = new Float64Array(count);
  const late: number[] = [];
  const free: Lane[] = [];
  let arrived = 0;
  let sent = 0;
  let answered = 0;
  let endedAt = 0;
  let failure: Error | null = null;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));

  function send(now: number): void {
    const isOver = now >= startedAt + seconds * 1000;
    if (gapMs === null) arrived = isOver ? sent : Math.min(count, sent + free.length);
    while (sent < arrived) {
      const lane = free.pop();
      const request = requests[sent];
      if (lane === undefined || request === undefined) return;
      lane.sentAt = gapMs === null ? now : startedAt + sent * gapMs;
      sent += 1;
      lane.connection?.send(request);
    }
    if (answered === sent && (gapMs === null || sent === count)) finish();
  }

  function tick(gap: number): void {
    const now = performance.now();
    for (let dueAt; arrived < count && (dueAt = startedAt + arrived * gap) <= now; arrived++) {
      // A connection was free, so only the generator itself was late.
      if (free.length > 0) late.push(now - dueAt);
    }
    send(now);
  }

  async function openLane(): Promise<Lane> {
    const lane: Lane = { sentAt: 0 };
    lane.connection = await openConnection(
      port,
      () => {
        endedAt = performance.now();
        latencies[answered] = endedAt - lane.sentAt;
        answered += 1;
        free.push(lane);
        send(endedAt);
      },
      (error) => {
        failure ??= error;
        finish();
      },
    );
    free.push(lane);
    return lane;
  }

  const metronome = gapMs === null ? null : await createMetronome();
  const opened = await Promise.all(Array.from({ length: connections }, openLane));
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  if (gapMs === null) send(startedAt);
  else
    metronome?.start(
      { startNs: process.hrtime.bigint(), gapMs: Math.max(gapMs, SHORTEST_TICK_MS) },
      () => tick(gapMs),
    );
  await finished;
  const cpu = process.cpuUsage(cpuBefore);
  await metronome?.stop();
  for (const { connection } of opened) connection?.end();

  const elapsedMs = endedAt - startedAt;
  return {
    sent,
    answered,
    failure: (failure as Error | null)?.message ?? null,
    elapsedMs,
    generatorBusy: (cpu.user + cpu.system) / 1000 / elapsedMs,
    lateMs: Float64Array.from(late).sort(),
    latenciesMs: latencies.subarray(0, answered).sort(),
  };
}
