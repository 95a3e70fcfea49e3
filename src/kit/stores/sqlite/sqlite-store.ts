import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { codeOf, safely, SignalboxError, ignore } from "../../../base/errors.js";
import { assertOneArgument, checkOptions } from "../../../base/options/option-error.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";
import type { Clock } from "../../../base/time/clock.js";
import {
  clockOf,
  closedStoreError,
  endpointInUseError,
  type InboxStore,
} from "../../inbox/store.js";
import { createBackground, type Background } from "./background.js";
import { createCheckpointer, type Checkpointer } from "./disk/checkpointer.js";
import type { SqliteDiagnostics } from "./diagnostics.js";
import { watchFiles, type FileWatch } from "./disk/inbox-files.js";
import { limitSize } from "./disk/limit-size.js";
import { openDatabase, sizeOf, type OpenDatabase } from "./open-database.js";
import { createOperations, prepareInbox, type PreparedInbox, type Use } from "./operations.js";
import { isOwned } from "./disk/owner-lock.js";
import { damagedError, isBusy, isFull, storeError } from "./store-error.js";
import { hasTraces } from "./disk/traces.js";
import { createWalSync, type WalSync } from "./disk/wal-sync.js";

export type { CheckpointCounts, SqliteDiagnostics } from "./diagnostics.js";

/** An inbox in a file. */
export interface SqliteStore extends InboxStore {
  /** As `health().medium`; null while it is not open. */
  diagnostics(endpoint?: string): SqliteDiagnostics | null;
}

/** The options of `sqliteStore`. A value of `undefined` means absent. */
export interface SqliteStoreOptions {
  /**
   * The inbox's file. A missing folder is created. The files `-wal`, `-shm` and `-owner` are in the
   * same folder.
   */
  path: string;
  /**
   * Allows several processes to open the file; the leases of a dead process are taken over when
   * they expire. Otherwise one process owns the file, and takes over the leases of a dead process
   * when it starts.
   * @default false
   */
  shared?: boolean | undefined;
  /**
   * For a tool: opens an existing file, which a running receiver may use, and never hands off.
   * @default false
   */
  operator?: boolean | undefined;
}

interface Connection extends PreparedInbox {
  path: string;
  wal: WalSync;
  files: FileWatch;
  background: Background;
  checkpointer: Checkpointer;
  release: OpenDatabase["release"];
}

const FACTORY = { name: "sqliteStore", page: "docs/receiver.md" };

const optionsSchema = z.strictObject({
  path: z
    .string()
    .regex(
      /^(?!.*(:memory:|\0))[^]*\S/,
      "expected the path of a file; memoryStore() is an inbox in memory",
    )
    .regex(
      /^(?!postgres(ql)?:|file:|https?:)/i,
      "expected the path of a file; postgresStore() takes the address of a database",
    ),
  shared: z.boolean().default(false),
  operator: z.boolean().default(false),
});

/**
 * The default inbox: one SQLite file in WAL mode.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`; `receiver.start()` opens and checks
 * the file
 * @example
 * sqliteStore("signals.db");
 * sqliteStore(new URL("../signals.db", import.meta.url));
 * sqliteStore({ path: "/var/lib/app/signals.db", shared: true });
 */
export function sqliteStore(pathOrOptions: string | URL | SqliteStoreOptions): SqliteStore {
  assertOneArgument(FACTORY, arguments.length, "{ path, shared }");
  const options =
    pathOrOptions instanceof URL
      ? { path: safely(() => fileURLToPath(pathOrOptions), pathOrOptions.href) }
      : typeof pathOrOptions === "string"
        ? { path: pathOrOptions }
        : pathOrOptions;
  const { path: givenPath, shared, operator } = checkOptions(FACTORY, optionsSchema, options);
  const path = resolve(givenPath);

  /** The clocks of the open endpoints. */
  const clocks = new Map<string, Clock>();
  let opening: Promise<void> | null = null;
  let closing: Promise<void> | null = null;
  let connection: Connection | null = null;
  /** Writes in flight. The WAL's descriptor must not be closed before they end. */
  const writes = new Set<Promise<unknown>>();
  /** A sync failed, so its commits must be written again before anything is acknowledged. */
  let mustRewrite = false;
  let rewriting: Promise<void> | null = null;

  async function connect(): Promise<Connection> {
    const role = operator ? "operator" : shared ? "shared" : "owner";
    const { db, path: realPath, wasClosedCleanly, release } = openDatabase(path, role);
    const background = createBackground(db, realPath);
    let wal: WalSync | undefined;
    try {
      const inbox = prepareInbox(db, shared);
      const checkpointer = createCheckpointer(background);
      if (role === "owner" && !wasClosedCleanly) await recover(background);
      wal = createWalSync(realPath);
      const files = watchFiles(db, realPath, wal);
      return { ...inbox, path: realPath, wal, files, background, checkpointer, release };
    } catch (error) {
      wal?.close();
      await background.close();
      release({ keepWal: true });
      // A statement could not be prepared, because a table or a column is missing.
      throw codeOf(error) === "SQLITE_ERROR"
        ? damagedError(path, (error as Error).message, error)
        : storeError(error, path);
    }
  }

  async function disconnect({
    wal,
    files,
    background,
    checkpointer,
    release,
  }: Connection): Promise<void> {
    await Promise.allSettled(writes);
    let keepWal = true;
    try {
      wal.close();
      // The disk may have lost pages of the WAL: copied into the file now, a power cut would damage
      // it.
      keepWal = mustRewrite || checkpointer.isStopped() || files.isWalCut();
    } catch (error) {
      throw storeError(error, path);
    } finally {
      await background.close();
      // Without `keepWal`, the last connection that closes copies the WAL into the file and deletes
      // the WAL.
      release({ keepWal });
    }
  }

  /** After a crash: checks the file, and makes sure that the disk has the content of the WAL. */
  async function recover(background: Background): Promise<void> {
    const found = await background.run("quickCheck");
    if (found !== "ok") throw damagedError(path, found);
    // A sync may have failed before the crash. The kernel reports that only once: the next sync
    // succeeds, although pages were not written. So SQLite copies the whole WAL into the file
    // before anything is acknowledged.
    mustRewrite = !(await background.run("rewrite"));
  }

  function connected(): Connection {
    if (connection === null) throw closedStoreError();
    return connection;
  }

  /** Runs what only a receiver does. */
  async function handingOff<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (!operator) return operation();
    const help = "To receive with it, remove operator: true.";
    throw new SignalboxError("store_unsupported", `The inbox ${path} was opened for a tool.`, help);
  }

  /**
   * Runs a write and makes it durable. A write that waits ends even if its endpoint is closed
   * meanwhile.
   */
  function write<Result>(transaction: Use<Result>): Promise<Result> {
    const written = writeNow(transaction);
    writes.add(written);
    const forget = (): void => void writes.delete(written);
    written.then(forget, forget);
    return written;
  }

  async function writeNow<Result>(transaction: Use<Result>): Promise<Result> {
    const current = connected();
    const open = new Map(clocks);
    const nowAt = (endpoint: string): number => clockOf(open, endpoint).now();
    try {
      if (mustRewrite) await (rewriting ??= rewrite(current));
      const checkpoint = current.checkpointer.waitForCheckpoint();
      if (checkpoint !== null) await checkpoint;
      let end = 0;
      const result = await whileBusy(() => {
        end = current.files.assertUnchanged();
        return transaction(current, nowAt);
      });
      await current.wal.sync().catch(syncFailed);
      current.files.assertWritten(end);
      // Only after `assertWritten`: if the WAL was truncated, a checkpoint would copy zeros into
      // the file.
      current.checkpointer.committed(end);
      return result;
    } catch (error) {
      // Space may have been freed since the limit was set, so the limit is computed again.
      if (isFull(error)) safely(() => limitSize(current.db, dirname(current.path)), undefined);
      throw storeError(error, path);
    }
  }

  function syncFailed(error: unknown): never {
    mustRewrite = true;
    throw error;
  }

  async function rewrite({ background, checkpointer, files, wal }: Connection): Promise<void> {
    try {
      files.assertUnchanged();
      if (checkpointer.isStopped()) {
        const help = "Repair the disk, then restart the receiver, which writes the inbox again.";
        throw new SignalboxError("store_failed", `The inbox ${path} could not be synced.`, help);
      }
      if (!(await background.run("rewrite"))) {
        throw new SignalboxError(
          "store_failed",
          `The inbox ${path} is being read.`,
          "Commits continue when the reader ends.",
        );
      }
      // Only now can a sync succeed again: before the rewrite it could acknowledge commits that
      // follow lost pages of the WAL.
      await wal.reopen();
      mustRewrite = false;
    } catch (error) {
      checkpointer.failed(error);
      throw error;
    } finally {
      rewriting = null;
    }
  }

  function read<Result>(query: Use<Result>): Result {
    try {
      return query(connected(), (endpoint) => clockOf(clocks, endpoint).now());
    } catch (error) {
      throw storeError(error, path);
    }
  }

  const inBackground: Background["run"] = async (...task) => {
    try {
      return await connected().background.run(...task);
    } catch (error) {
      throw storeError(error, path);
    }
  };

  /** @returns false if a reader needs the WAL */
  async function truncateWal(): Promise<boolean> {
    for (let tries = 0; tries < TRUNCATE_TRIES; tries += 1) {
      // Another process may have been writing.
      if (await connected().checkpointer.truncate()) return true;
    }
    return false;
  }

  const operations = createOperations(read, write);

  return {
    name: "sqlite",
    durable: true,
    shared,
    async open({ endpoint, clock }) {
      if (clocks.has(endpoint)) throw endpointInUseError(endpoint, path);
      clocks.set(endpoint, clock);
      try {
        await closing?.catch(ignore);
        await (opening ??= connect().then((opened) => void (connection = opened)));
      } catch (error) {
        clocks.delete(endpoint);
        opening = null;
        throw error;
      }
    },
    commitsInFlight: () => connection?.wal.atOnce() ?? 1,
    async close(endpoint) {
      if (!clocks.delete(endpoint) || clocks.size > 0) return;
      await opening?.catch(ignore);
      if (connection === null || clocks.size > 0) return;
      closing = disconnect(connection);
      connection = null;
      opening = null;
      await closing;
    },
    ...operations,
    commit: (batch) => handingOff(() => operations.commit(batch)),
    reclaim: (request) => handingOff(() => operations.reclaim(request)),
    mentioning: (endpoint, text, afterSeq) => inBackground("mentioning", endpoint, text, afterSeq),
    async wipe(hidden) {
      const { db, path: file, erasures } = connected();
      if (!(await truncateWal()))
        return "A reader, such as a backup, needs pages of the -wal file: erase again when it has ended.";
      const pageBytes = db.pragma("page_size", { simple: true }) as number;
      const traces = [...erasures.traces, ...(hidden === null ? [] : [hidden])];
      if (erasures.isUnclean() || (await hasTraces(file, pageBytes, traces)))
        return "Unused parts of the file have copies: stop the receiver, and run: npx signalbox inbox vacuum";
      erasures.traces.clear();
      return null;
    },
    async vacuum() {
      read(({ db }) => db.exec("VACUUM; DELETE FROM inbox_unclean"));
      if (await truncateWal()) return;
      const help = "Run it again when its readers, such as a backup, have ended.";
      throw new SignalboxError("store_failed", `The inbox ${path} is being read.`, help);
    },
    async hasReceiver(endpoint) {
      const { path: file } = connected();
      return operator ? safely(() => isOwned(file), null) : clocks.has(endpoint);
    },
    stats: async (endpoint) => inBackground("stats", endpoint, clockOf(clocks, endpoint).now()),
    diagnostics() {
      if (connection === null) return null;
      const { wal, checkpointer, background, path: file } = connection;
      return {
        driver: loadDriver().name,
        durability: "wal-fdatasync",
        fileBytes: sizeOf(file),
        walBytes: sizeOf(`${file}-wal`),
        sync: wal.durations(),
        checkpoints: checkpointer.counts(),
        threadDeaths: background.deaths(),
      };
    },
  };
}

/** Each waits for 100 ms. */
const TRUNCATE_TRIES = 10;

/** How long a commit is retried while another process writes. */
const BUSY_LIMIT_MS = 2500;

/**
 * Retries while another process writes. The delays are random and grow, so that two processes do
 * not collide each time. A wait inside SQLite would block the event loop.
 */
async function whileBusy<Result>(attempt: () => Result): Promise<Result> {
  const startedAt = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt > BUSY_LIMIT_MS) throw error;
      const delayMs = 1 + Math.random() * Math.min(25, 2 ** tries);
      await new Promise((resume) => setTimeout(resume, delayMs));
    }
  }
}
