import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** What `children/receiver.mjs` says. */
export type Line =
  | { say: "ready"; port: number }
  | { say: "refused"; code: string }
  | { say: "request" }
  | { say: "begun"; id: string; possiblyRepeated: boolean; replayed: boolean; attempt: number }
  | { say: "handedOff"; id: string }
  | { say: "leaseLost"; id: string }
  | { say: "closed" };

export interface ChildConfig {
  db: string;
  /** The options of its store on PostgreSQL, instead of the file. */
  postgres?: { connectionString: string; schema: string };
  /** Where callbacks note that they began. */
  log: string;
  shared?: boolean;
  clockAheadMs?: number;
  fault?:
    | "acknowledge before commit"
    | "exit in a commit"
    | "uncaught exception"
    | "exit after the answer";
}

/** Longer than anything takes on a busy machine: only a failing test gets here. */
const DEADLINE_MS = 55_000;

/** @param env beside what this process has */
export function startChild(config: ChildConfig, env: NodeJS.ProcessEnv = {}) {
  const script = new URL("children/receiver.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));

  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const lines: Line[] = [];
  const checks = new Set<() => void>();
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line) as Line);
    for (const check of checks) check();
  });
  // `close`, not `exit`: by then all that it said has been read.
  const exited = once(child, "close").then(
    ([code, signal]) => (signal ?? code) as number | NodeJS.Signals,
  );

  /**
   * Resolves once `condition` holds for what was said; rejects when the process ends or the time is
   * over.
   */
  function until(what: string, condition: (lines: readonly Line[]) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(deadline);
        checks.delete(check);
        settle();
      };
      const fail = (why: string): void =>
        end(() =>
          reject(
            new Error(
              `waited for ${what}, but ${why}\n${stderr}\n${JSON.stringify(lines.slice(-20))}`,
            ),
          ),
        );
      const check = (): void => {
        if (condition(lines)) end(resolve);
      };
      const deadline = setTimeout(() => fail("the time is over"), DEADLINE_MS);
      checks.add(check);
      void exited.then((how) => fail(`the process ended with ${how}`));
      check();
    });
  }

  return {
    /** Where it takes deliveries; 0 before it is ready. */
    get port() {
      return lines.find((line) => line.say === "ready")?.port ?? 0;
    },
    /** All that it said so far. */
    lines: lines as readonly Line[],
    /** What it wrote beside. */
    stderr: () => stderr,
    /** The code or the signal with which it ended. */
    exited,
    until,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Ends it with this signal. @returns the code or the signal with which it ended */
    end(signal: "SIGTERM" | "SIGKILL") {
      child.kill(signal);
      return exited;
    },
  };
}

export type Child = ReturnType<typeof startChild>;

/** Resolves when deliveries are taken. */
export async function startReceiver(config: ChildConfig, env?: NodeJS.ProcessEnv): Promise<Child> {
  const child = startChild(config, env);
  await child.until("the receiver to start", isReady);
  return child;
}

export function isReady(lines: readonly Line[]): boolean {
  return lines.some(({ say }) => say === "ready");
}

export function idsOf(lines: readonly Line[], say: "begun" | "handedOff" | "leaseLost"): string[] {
  return lines.flatMap((line) => (line.say === say ? [line.id] : []));
}

/** Resolves when the callback of this event has begun in this process. */
export function hasBegun(child: Child, id: string): Promise<void> {
  return child.until(`the callback of ${id}`, (lines) => idsOf(lines, "begun").includes(id));
}

/** Whether the receiver said of each of these that it was handed off, durably. */
export function areHandedOff(ids: Iterable<string>): (lines: readonly Line[]) => boolean {
  return (lines) => {
    const done = new Set(idsOf(lines, "handedOff"));
    return [...ids].every((id) => done.has(id));
  };
}
