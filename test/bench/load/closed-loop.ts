import { openConnection, type Connection } from "./connection.js";
import type { LoadResult } from "./load-result.js";

export interface ClosedLoop {
  port: number;
  connections: number;
  seconds: number;
  /** Ends after so many requests, if not sooner. */
  most: number;
}

/**
 * Each connection sends its next request when the last one is answered. Ends when the time is over
 * or the requests are, and after the last answer.
 */
export async function runClosedLoop(
  requests: readonly Buffer[],
  { port, connections, seconds, most }: ClosedLoop,
): Promise<LoadResult> {
  const latencies = new Float64Array(requests.length);
  const statuses = new Map<number, number>();
  let sent = 0;
  let answered = 0;
  let firstFailure: Error | null = null;
  let startedAt = 0;
  let stopAt = 0;
  let endedAt = 0;
  let open = 0;
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));

  async function openLoop(): Promise<{ connection: Connection; sendNext(): void }> {
    let sentAt = 0;
    const isDone = (): void => {
      open -= 1;
      if (open === 0) finish();
    };
    const sendNext = (now = performance.now()): void => {
      const request = requests[sent];
      if (request === undefined || sent >= most || now >= stopAt || firstFailure !== null)
        return isDone();
      sent += 1;
      sentAt = now;
      connection.send(request);
    };
    const connection = await openConnection(
      port,
      (status) => {
        const now = performance.now();
        latencies[answered] = now - sentAt;
        answered += 1;
        endedAt = now;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        sendNext(now);
      },
      (error) => {
        firstFailure ??= error;
        isDone();
      },
    );
    open += 1;
    return { connection, sendNext };
  }

  const loops = await Promise.all(Array.from({ length: connections }, openLoop));
  const cpuBefore = process.cpuUsage();
  startedAt = performance.now();
  stopAt = startedAt + seconds * 1000;
  for (const { sendNext } of loops) sendNext();
  await finished;
  const cpu = process.cpuUsage(cpuBefore);
  for (const { connection } of loops) connection.end();

  const elapsedMs = endedAt - startedAt;
  return {
    sent,
    answered,
    statuses: Object.fromEntries(statuses),
    refusal:
      loops.find(({ connection }) => connection.refusal !== null)?.connection.refusal ?? null,
    failure: (firstFailure as Error | null)?.message ?? null,
    elapsedMs,
    generatorBusy: (cpu.user + cpu.system) / 1000 / elapsedMs,
    lateMs: new Float64Array(),
    latenciesMs: latencies.subarray(0, answered).sort(),
  };
}
