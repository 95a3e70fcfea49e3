import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { startProxy } from "../faults/postgres/tcp-proxy.js";
import { FOREVER, nowMs, type Happening } from "./history.js";

export interface MachineConfig {
  index: number;
  clockAheadMs: number;
  /** The folder of the history. */
  folder: string;
  server: { port: number };
  note: (what: Happening, at?: number) => void;
  /** It ended, and nobody had ended it. */
  onCrash: (what: string) => void;
}

export function urlOf(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** A receiver with a clock of its own, which is started again when it ended. */
export async function startMachine(config: MachineConfig) {
  const { index, clockAheadMs, folder, server, note, onCrash } = config;
  const proxy = await startProxy(server.port);
  let starts = 0;
  let name = "";
  let child: ChildProcess;
  let port: number | null = null;
  /** Not before this time it starts again; null: it shall not end. */
  let downUntil: number | null = null;
  let isClosed = false;

  function start(): void {
    name = `${index}.${++starts}`;
    const argument = {
      name,
      clockAheadMs,
      history: join(folder, `${name}.jsonl`),
      connectionString: urlOf(proxy.port),
    };
    const started = fork(new URL("receiver.mjs", import.meta.url), [JSON.stringify(argument)], {
      stdio: "pipe",
      execArgv: [],
    });
    child = started;
    downUntil = null;
    let stderr = "";
    started.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    started.once("message", (message) => (port = message as number));
    started.once("exit", (code, signal) => {
      // A start fails while the database is down.
      if (port !== null && downUntil === null)
        onCrash(`${name} ended with ${code ?? signal}: ${stderr}`);
      port = null;
      if (!isClosed)
        void delay(Math.max(300, (downUntil ?? 0) - nowMs())).then(() => isClosed || start());
    });
  }

  start();
  onTestFinished(() => {
    isClosed = true;
    child.kill("SIGKILL");
  });
  return {
    clockAheadMs,
    proxy,
    /** Where it takes deliveries; null while it does not. */
    port: () => port,
    /** Ends it, and lets it start again after a while. Resolves when it does. */
    async end(signal: "SIGKILL" | "SIGTERM", downMs: number): Promise<void> {
      const ending = child;
      if (ending.exitCode !== null || ending.signalCode !== null) return;
      note({ say: "silenced", process: name, until: FOREVER });
      downUntil = nowMs() + downMs;
      const exited = once(ending, "exit");
      ending.kill(signal);
      // If the database is down or cut off, it may take long.
      await Promise.race([exited, delay(15_000)]);
      ending.kill("SIGKILL");
      await delay(downMs);
    },
    /** What stands still or is cut off for so long may lose its leases. */
    async silence(ms: number, begin: () => void, end: () => void): Promise<void> {
      const [silenced, from] = [name, nowMs()];
      begin();
      await delay(ms);
      end();
      note({ say: "silenced", process: silenced, until: nowMs() }, from);
    },
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Notes that its proxy, which is in this process, stood still since then. */
    proxyStoodStill: (since: number) =>
      note({ say: "silenced", process: name, until: nowMs() }, since),
    /** For good. */
    async close(): Promise<void> {
      isClosed = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      downUntil = FOREVER;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export type Machine = Awaited<ReturnType<typeof startMachine>>;
