import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MEMORY_DISK } from "../../unit/temp-folder.js";
import { compile } from "../preload/compile.js";

/**
 * Folders of a recording. In memory where that can be had: what a disk would have kept is our own
 * reckoning.
 */
export function recorderFolders() {
  const folder = realpathSync(mkdtempSync(join(MEMORY_DISK, "signalbox-power-")));
  const library = compile(new URL("../preload/recorder.c", import.meta.url));
  const [recorded, scratch] = [join(folder, "recorded"), join(folder, "scratch")];
  for (const made of [recorded, scratch]) mkdirSync(made);
  return {
    /** All that happens in here is recorded. */
    recorded,
    log: join(folder, "record"),
    /** For other files of the test. */
    scratch,
    library,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export type RecorderFolders = ReturnType<typeof recorderFolders>;

/** Where the process is killed: at its nth call of a kind on the file whose name ends so. */
export interface KillPoint {
  call: "create" | "unlink" | "write" | "truncate" | "sync";
  file: "inbox.db" | "-wal" | "-journal" | "inbox";
  nth: number;
  side: "before" | "halfway" | "after";
}

const LETTERS = { create: "c", unlink: "u", write: "w", truncate: "t", sync: "s" };

/** What `children/recorded-receiver.mjs` takes. */
export interface SelfSender {
  /** Numbers of the events that it sends to itself, the last one not included. */
  from: number;
  to: number;
  connections: number;
  /** Each has a receiver of its own, all on one store. @default one */
  endpoints?: readonly string[];
  fault?: "acknowledge before the sync" | "answer by its own sync";
}

/** Longer than anything takes on a busy machine: only a failing test gets here. */
const DEADLINE_MS = 60_000;

export const INBOX = "inbox/inbox.db";
export const MARKS = "marks";

export interface RunOptions {
  kill?: KillPoint | undefined;
  /** Which of our own syncs of the WAL fails, counted from 1. */
  failSync?: number | undefined;
  /**
   * The first of our own syncs of the WAL from this one on, counted from 1, that ends while another
   * runs fails.
   */
  failBeside?: number | undefined;
  /** How long each sync takes. */
  syncMicroseconds?: number | undefined;
  /** Of our own syncs of the WAL that overlap, the first to start ends last. @default false */
  isReversed?: boolean | undefined;
  /** Of `children/`. @default recorded-receiver.mjs */
  script?: string | undefined;
}

/**
 * Lets a receiver run in the recorded folder to its end, or until it is killed. Resolves with how
 * it ended.
 */
export async function runRecorded(
  folders: RecorderFolders,
  sender: SelfSender,
  {
    kill,
    failSync,
    failBeside,
    syncMicroseconds = 0,
    isReversed,
    script = "recorded-receiver.mjs",
  }: RunOptions = {},
): Promise<"done" | "killed"> {
  const path = new URL(`../children/${script}`, import.meta.url).pathname;
  const files = { db: join(folders.recorded, INBOX), marks: join(folders.recorded, MARKS) };
  const child = spawn(process.execPath, [path, JSON.stringify({ ...files, ...sender })], {
    stdio: ["ignore", "ignore", "pipe"],
    timeout: DEADLINE_MS,
    killSignal: "SIGABRT",
    env: {
      ...process.env,
      LD_PRELOAD: folders.library,
      RECORDER_FOLDER: folders.recorded,
      RECORDER_LOG: folders.log,
      RECORDER_SYNC_US: String(syncMicroseconds),
      // A sync that goes through io_uring is no call that a library could see.
      UV_USE_IO_URING: "0",
      ...(failSync !== undefined && { RECORDER_FAIL: String(failSync) }),
      ...(failBeside !== undefined && { RECORDER_FAIL_BESIDE: String(failBeside) }),
      ...(isReversed === true && { RECORDER_REVERSE: "1" }),
      ...(kill && { RECORDER_KILL: `${LETTERS[kill.call]} ${kill.file} ${kill.nth} ${kill.side}` }),
    },
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (signal === "SIGKILL" && kill !== undefined) return "killed";
  if (code !== 0) throw new Error(`the receiver ended with ${String(signal ?? code)}\n${stderr}`);
  return "done";
}
