import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import type { BatcherLimits, ReceiverOptions } from "../../../src/kit/index.js";

/** How the receiver of `children/pressed-receiver.mjs` is, right after a garbage collection. */
export interface Report {
  rss: number;
  heapUsed: number;
  /** Bytes of buffers: bodies above all. */
  arrayBuffers: number;
  connections: number;
  /** Requests begun, events accepted, and refusals by their code. */
  counts: Partial<Record<string, number>>;
  queued: BatcherLimits;
}

interface Config {
  /** Without one it keeps its events in memory. */
  db?: string;
  options?: Pick<ReceiverOptions, "bodyTimeoutMs" | "ackTimeoutMs">;
}

/** Longer than anything takes on a busy machine: only a failing test gets here. */
const DEADLINE_MS = 55_000;

/** A receiver in a process of its own: only its memory is measured. It ends with the test. */
export async function startPressedReceiver(config: Config) {
  const script = new URL("../children/pressed-receiver.mjs", import.meta.url).pathname;
  const child = fork(script, [JSON.stringify(config)], { execArgv: ["--expose-gc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the receiver's process ended with ${String(code)}`);
  });
  // Nobody may be waiting when the test ends it.
  ended.catch(() => undefined);

  async function nextMessage<Message>(): Promise<Message> {
    const [message] = (await Promise.race([once(child, "message"), ended])) as [Message];
    return message;
  }
  async function ask(question: string): Promise<unknown> {
    child.send(question);
    return (await nextMessage<{ answer: unknown }>()).answer;
  }
  const { port } = await nextMessage<{ port: number }>();
  const report = async (): Promise<Report> => (await ask("report")) as Report;

  return {
    port,
    report,
    /** Asks until `condition` holds. */
    async until(what: string, condition: (report: Report) => boolean): Promise<Report> {
      const deadline = performance.now() + DEADLINE_MS;
      for (;;) {
        const last = await report();
        if (condition(last)) return last;
        if (performance.now() > deadline)
          throw new Error(`waited for ${what} in vain: ${JSON.stringify(last)}`);
      }
    },
    /** The store takes nothing more until `goOn`. */
    hang: async () => void (await ask("hang")),
    goOn: async () => void (await ask("go on")),
  };
}

export type PressedReceiver = Awaited<ReturnType<typeof startPressedReceiver>>;

export const MIB = 1024 * 1024;

/** By how much memory may grow from one report to another, in bytes. */
export function expectGrowth(
  before: Report,
  after: Report,
  most: Pick<Report, "rss" | "heapUsed" | "arrayBuffers">,
): void {
  for (const kind of ["rss", "heapUsed", "arrayBuffers"] as const) {
    expect(
      after[kind] - before[kind],
      `growth of ${kind}: ${figures(before, after)}`,
    ).toBeLessThanOrEqual(most[kind]);
  }
}

/** For the report of the test. */
export function figures(...reports: readonly Report[]): string {
  const inMib = (bytes: number): string => (bytes / MIB).toFixed(1);
  return reports
    .map(({ rss, heapUsed, arrayBuffers }) => {
      return `rss ${inMib(rss)}, heap ${inMib(heapUsed)}, buffers ${inMib(arrayBuffers)} MiB`;
    })
    .join(" → ");
}
