// The script of the thread that background.ts starts. It has a separate connection and runs one
// task after another.
import { parentPort, workerData } from "node:worker_threads";
import type { SqliteDriver } from "../../../base/sqlite/database.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";
import { createBackgroundTasks, type BackgroundTasks } from "./background-tasks.js";
import { MOST_WAL_BYTES } from "./disk/limit-size.js";

/** What the thread is started with: the inbox, and the driver that has it open. */
export interface BackgroundData {
  path: string;
  driver: SqliteDriver["name"];
}

export interface BackgroundRequest {
  id: number;
  name: keyof BackgroundTasks;
  args: unknown[];
}

export type BackgroundAnswer =
  | { id: number; ok: true; result: unknown }
  | { id: number; ok: false; message: string; code: unknown };

/**
 * How long a task waits for a lock or a reader. It is short, because commits may wait for the task.
 */
const BUSY_TIMEOUT_MS = 100;

const { path, driver } = workerData as BackgroundData;
const db = loadDriver(driver).open(path, {
  timeout: BUSY_TIMEOUT_MS,
  fileMustExist: true,
});
db.pragma("synchronous = FULL");
db.pragma("secure_delete = ON");
db.pragma("checkpoint_fullfsync = ON");
db.pragma("wal_autocheckpoint = 0");
db.pragma(`journal_size_limit = ${MOST_WAL_BYTES}`);
const tasks = createBackgroundTasks(db, path) as unknown as Record<
  string,
  (...args: unknown[]) => unknown
>;

function answer({ id, name, args }: BackgroundRequest): BackgroundAnswer {
  try {
    return { id, ok: true, result: tasks[name]?.(...args) };
  } catch (error) {
    // `postMessage` would drop the error's `code`, so it is sent separately.
    const { message, code } = error as Error & { code?: unknown };
    return { id, ok: false, message, code };
  }
}

parentPort?.on("message", (request: BackgroundRequest | null) => {
  if (request !== null) return parentPort?.postMessage(answer(request));
  db.close();
  parentPort?.close();
});
