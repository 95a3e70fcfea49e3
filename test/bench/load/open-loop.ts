import { openConnection, type Connection } from "./connection.js";
import type { LoadResult } from "./load-result.js";
import { createMetronome } from "./metronome.js";

export interface OpenLoop {
  port: number;
  connections: number;
  seconds: number;
  requestsPerSecond: number;
}

/** Above this rate several requests come with one tick. */
const SHORTEST_TICK_MS = 0.2;

/**
 * Requests arrive at a fixed rate, whatever the server does. They wait if no connection is free. A
 * latency runs from the moment at which the request was due, so that a request behind a stall
 * counts its whole wait (no coordinated omission).
 */
export async function runOpenLoop(
  requests: readonly Buffer[],
  { port, connections, seconds, requestsPerSecond }: OpenLoop,
): Promise<LoadResult> {
  const count = Math.min(requests.length, Math.round(seconds * requestsPerSecond));
  const gapMs = 1000 / requestsPerSecond;
  const latencies = new Float64Array(count);
  const late: number[] = [];
  const statuses = new Map<number, number>();
  const free: { connection: Connection; dueAt: number }[] = [];
  let arrived = 0;
  let sent = 0;
  let answered = 0;
  let failure: Error | null = null;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));

  function sendDue(): void {
    while (sent < arrived) {
      const lane = free.pop();
      const request = requests[sent];
      if (lane === undefined || request === undefined) return;
      lane.dueAt = startedAt + sent * gapMs;
      lane.connection.send(request);
      sent += 1;
    }
  }

  function turn(): void {
    if (failure !== null) return finish();
    const now = performance.now();
    while (arrived < count && startedAt + arrived * gapMs <= now) {
      // A connection was free, so only the generator itself was late.
      if (free.length > 0) late.push(now - (startedAt + arrived * gapMs));
      arrived += 1;
    }
    sendDue();
  }

  async function openLane(): Promise<Connection> {
    const lane = { connection: null as unknown as Connection, dueAt: 0 };
    lane.connection = await openConnection(
      port,
      (status) => {
        const now = performance.now();
        latencies[answered] = now - lane.dueAt;
        answered += 1;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        free.push(lane);
        if (answered === count) finish();
        else sendDue();
      },
      (error) => {
        failure ??= error;
        finish();
      },
    );
    free.push(lane);
    return lane.connection;
  }

  const metronome = await createMetronome();
  const opened = await Promise.all(Array.from({ length: connections }, openLane));
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  metronome.start(
    { startNs: process.hrtime.bigint(), gapMs: Math.max(gapMs, SHORTEST_TICK_MS) },
    turn,
  );
  await finished;
  const elapsedMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  await metronome.stop();
  for (const connection of opened) connection.end();

  return {
    sent,
    answered,
    statuses: Object.fromEntries(statuses),
    refusal: opened.find(({ refusal }) => refusal !== null)?.refusal ?? null,
    failure: (failure as Error | null)?.message ?? null,
    elapsedMs,
    generatorBusy: (cpu.user + cpu.system) / 1000 / elapsedMs,
    latenciesMs: latencies.subarray(0, answered).sort(),
    lateMs: Float64Array.from(late).sort(),
  };
}
