import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Question, Reply } from "./questions.js";

/** From the compiled bench to the repository. */
export const ROOT = join(import.meta.dirname, "../../../../..");

export interface ProcessOptions {
  /** The repository whose bench and signalbox it loads. @default this one */
  root?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** Holds the process, with all its threads, to this core. Needs `taskset`. */
  core?: number | undefined;
}

/**
 * Starts one script of the bench in a process of its own.
 *
 * @param script relative to `test/bench`
 */
export function startProcess(
  script: string,
  config: object = {},
  { root = ROOT, env, core }: ProcessOptions = {},
) {
  const path = join(root, "test/bench/dist/bench", script);
  const child = fork(path, [JSON.stringify(config)], {
    // Express and others do less when this is set, and it is how they are meant to run.
    env: { ...process.env, NODE_ENV: "production", ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    ...(core !== undefined && {
      execPath: "taskset",
      execArgv: ["-c", String(core), process.execPath],
    }),
  });
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let lastId = 0;
  let hasEnded = false;
  const exited = once(child, "exit").then(([code, signal]) => {
    hasEnded = true;
    for (const { reject } of waiting.values())
      reject(new Error(`${script} ended with ${String(signal ?? code)}`));
  });
  child.on("message", (message) => {
    const reply = message as Reply;
    const asker = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("failed" in reply) asker?.reject(new Error(`${script}: ${reply.failed}`));
    else asker?.resolve(reply.value as never);
  });

  return {
    /** Rejects when the other side fails, or ends before it answers. */
    ask<Value>(ask: string, input: unknown = {}): Promise<Value> {
      return new Promise<Value>((resolve, reject) => {
        if (hasEnded) return reject(new Error(`${script} has ended`));
        const id = ++lastId;
        waiting.set(id, { resolve, reject });
        child.send({ id, ask, with: input } satisfies Question);
      });
    },
    /** Lets it end by itself; resolves when it is gone. */
    async stop(): Promise<void> {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

export type BenchProcess = ReturnType<typeof startProcess>;
