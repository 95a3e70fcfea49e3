import { Worker } from "node:worker_threads";
import type { Database } from "../../../base/sqlite/database.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";
import { closedStoreError } from "../../inbox/store.js";
import { createBackgroundTasks, type BackgroundTasks } from "./background-tasks.js";
import type { BackgroundAnswer, BackgroundData, BackgroundRequest } from "./background-thread.js";

/** How long tasks run on the main thread before a new thread is started. */
const RESPAWN_AFTER_MS = 10_000;

interface Pending extends Pick<BackgroundRequest, "name" | "args"> {
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

interface Thread {
  worker: Worker;
  pending: Map<number, Pending>;
  exited: Promise<void>;
}

/**
 * Runs tasks in a thread with a separate connection. The first task starts the thread. If the
 * thread dies or cannot start (a bundler left out its script), the tasks run on the main thread for
 * a while: that blocks the event loop, but without checkpoints the WAL would grow without end.
 */
export function createBackground(db: Database, path: string) {
  let here: BackgroundTasks | null = null;
  let thread: Thread | null = null;
  let lastId = 0;
  let deaths = 0;
  let diedAt = -Infinity;
  let closed = false;

  function start(): Thread {
    // `execArgv: []`: the application's `--import` scripts and loaders must not run in this thread.
    const worker = new Worker(new URL("./background-thread.js", import.meta.url), {
      workerData: { path, driver: loadDriver().name } satisfies BackgroundData,
      execArgv: [],
    });
    const pending = new Map<number, Pending>();
    // An idle thread must not keep the process alive; `run` calls ref() while there are tasks.
    worker.unref();
    worker.on("message", (answer: BackgroundAnswer) => {
      const { resolve, reject } = pending.get(answer.id) as Pending;
      pending.delete(answer.id);
      // After `close`, `thread` is null, and the process must live until the worker has exited.
      if (pending.size === 0 && thread?.worker === worker) worker.unref();
      if (answer.ok) resolve(answer.result as never);
      else reject(Object.assign(new Error(answer.message), { code: answer.code }));
    });
    let cause: unknown;
    worker.on("error", (error) => (cause = error));
    const exited = new Promise<void>((resolve) => {
      worker.on("exit", () => {
        // If this is not the current thread, `close` ended it, which is not a death.
        if (thread?.worker === worker) {
          thread = null;
          died(cause);
        }
        for (const { name, args, ...settle } of pending.values())
          runHere(name, args).then(settle.resolve, settle.reject);
        resolve();
      });
    });
    return { worker, pending, exited };
  }

  function died(cause: unknown): void {
    deaths += 1;
    diedAt = performance.now();
    const reason = cause instanceof Error ? ` (${cause.message})` : "";
    process.emitWarning(
      `The background thread of the inbox ${path} died${reason}. The main thread does its work.`,
      {
        code: "SIGNALBOX_THREAD_DIED",
        type: "SignalboxWarning",
      },
    );
  }

  function runHere<Name extends keyof BackgroundTasks>(
    name: Name,
    args: unknown[],
  ): Promise<never> {
    here ??= createBackgroundTasks(db, path);
    const task = here[name] as (...args: unknown[]) => never;
    return new Promise((resolve) => resolve(task(...args)));
  }

  return {
    /**
     * Rejects with SQLite's error. If the thread dies, the main thread runs its unfinished tasks.
     */
    run<Name extends keyof BackgroundTasks>(
      name: Name,
      ...args: Parameters<BackgroundTasks[Name]>
    ): Promise<ReturnType<BackgroundTasks[Name]>> {
      if (closed) return Promise.reject(closedStoreError());
      if (thread === null && performance.now() - diedAt < RESPAWN_AFTER_MS)
        return runHere(name, args);
      try {
        thread ??= start();
      } catch (error) {
        // The process may have reached its limit of threads.
        died(error);
        return runHere(name, args);
      }
      const { worker, pending } = thread;
      return new Promise((resolve, reject) => {
        const request: BackgroundRequest = { id: ++lastId, name, args };
        pending.set(request.id, { ...request, resolve, reject });
        worker.ref();
        worker.postMessage(request);
      });
    },
    /** How often a thread died. */
    deaths: () => deaths,
    async close(): Promise<void> {
      closed = true;
      const closing = thread;
      thread = null;
      if (closing === null) return;
      closing.worker.ref();
      closing.worker.postMessage(null);
      await closing.exited;
    },
  };
}

export type Background = ReturnType<typeof createBackground>;
