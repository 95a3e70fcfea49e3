import { dirname, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { SignalboxError } from "../../errors.js";
import { closedStoreError } from "../../inbox/closed-store-error.js";
import type { InboxStore } from "../../inbox/store.js";
import { createAdministration, type Administration } from "./administration.js";
import { createCommitter, type Committer } from "./commit.js";
import { limitSize } from "./limit-size.js";
import { openDatabase } from "./open-database.js";
import { isBusy, isFull, storeError } from "./store-error.js";
import { createWalSync, type WalSync } from "./wal-sync.js";

export interface SqliteStoreOptions {
  /** The inbox's file; its folder is made when it is missing. Beside it stand `-wal`, `-shm` and `-owner`. */
  path: string;
  /**
   * Several processes may have the file open, and a dead one's leases are taken over when they run out. Otherwise
   * one process owns it, and takes over what a dead predecessor held at once when it starts.
   * @default false
   */
  shared?: boolean | undefined;
  /**
   * For a tool beside a running receiver: opens an existing file without owning it and never hands off.
   * @default false
   */
  operator?: boolean | undefined;
}

/** How long a commit goes on trying while another process writes, without blocking the event loop. */
const BUSY_LIMIT_MS = 2500;

interface Connection {
  db: Database;
  committer: Committer;
  administration: Administration;
  wal: WalSync;
  release: () => void;
}

/**
 * The default inbox: one SQLite file in WAL mode.
 *
 * @throws SignalboxError `option_invalid`; the file itself is opened, and checked, by `receiver.start()`
 * @example
 * sqliteStore("signals.db");
 * sqliteStore({ path: "/var/lib/app/signals.db", shared: true });
 */
export function sqliteStore(pathOrOptions: string | SqliteStoreOptions): InboxStore {
  const options = typeof pathOrOptions === "object" && pathOrOptions !== null ? pathOrOptions : { path: pathOrOptions };
  assertOptions(options);
  const path = resolve(options.path);
  const { shared = false, operator = false } = options;

  const openEndpoints = new Set<string>();
  let connection: Connection | null = null;
  /** Those in flight: their descriptor must not be closed under them. */
  const writes = new Set<Promise<unknown>>();
  /** A sync failed: what it should have made durable must be written anew before anything is acknowledged. */
  let mustRewrite = false;

  function connect(): Connection {
    const { db, path: realPath, release } = openDatabase(path, operator ? "operator" : shared ? "shared" : "owner");
    try {
      const committer = createCommitter(db, shared);
      return { db, committer, administration: createAdministration(db), wal: createWalSync(realPath), release };
    } catch (error) {
      release();
      throw storeError(error, path);
    }
  }

  function connected(): Connection {
    if (connection === null) throw closedStoreError();
    return connection;
  }

  function assertOwner(): void {
    if (!operator) return;
    const help = "Leave out operator: true to receive with it.";
    throw new SignalboxError("store_unsupported", `The inbox ${path} was opened for a tool.`, help);
  }

  /**
   * Runs a write and makes it durable. A busy file is waited for outside of SQLite, a little longer each time
   * and by chance, so that processes do not meet again and again.
   */
  function write<Result>(transaction: (connection: Connection) => Result): Promise<Result> {
    const written = writeNow(transaction);
    writes.add(written);
    const forget = (): void => void writes.delete(written);
    written.then(forget, forget);
    return written;
  }

  async function writeNow<Result>(transaction: (connection: Connection) => Result): Promise<Result> {
    const current = connected();
    try {
      if (mustRewrite) rewrite(current);
      const result = await whileBusy(() => transaction(current));
      await sync(current);
      return result;
    } catch (error) {
      // Space may have been freed since the limit was set.
      if (isFull(error)) limitSize(current.db, dirname(path));
      throw storeError(error, path);
    }
  }

  async function sync({ wal }: Connection): Promise<void> {
    try {
      await wal.sync();
    } catch (error) {
      mustRewrite = true;
      throw error;
    }
  }

  /** Writes everything that stands in the WAL into the database file, with SQLite's own syncs, and empties the WAL. */
  function rewrite({ db, wal }: Connection): void {
    wal.reopen();
    const [outcome] = db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
    if (outcome.busy !== 0) {
      throw new SignalboxError("store_failed", `The inbox ${path} is being read.`, "It goes on by itself.");
    }
    mustRewrite = false;
  }

  function read<Result>(query: (connection: Connection) => Result): Result {
    try {
      return query(connected());
    } catch (error) {
      throw storeError(error, path);
    }
  }

  return {
    name: "sqlite",
    durable: true,
    shared,
    async open({ endpoint }) {
      if (openEndpoints.has(endpoint)) {
        throw new SignalboxError(
          "store_in_use",
          `This process has endpoint "${endpoint}" of ${path} open already.`,
          "Give each receiver an endpoint of its own.",
        );
      }
      connection ??= connect();
      openEndpoints.add(endpoint);
    },
    async close(endpoint) {
      if (!openEndpoints.delete(endpoint) || openEndpoints.size > 0 || connection === null) return;
      const { wal, release } = connection;
      connection = null;
      await Promise.allSettled(writes);
      wal.close();
      release();
    },
    async commit(batch) {
      assertOwner();
      const { settlements, accepts, claim } = batch;
      if (settlements.length === 0 && accepts.length === 0) {
        const nothing = claim === null ? null : read(({ committer }) => committer.claimNothing(claim));
        if (claim === null || nothing !== null) return { settlements: [], accepts: [], claim: nothing };
      }
      // A batch of duplicates alone is synced as well: the original may be another process's and not synced yet.
      return write(({ committer }) => committer.commit(batch));
    },
    async takeOver(request) {
      assertOwner();
      // Another process's leases are alive as long as their time runs: they are never taken over here.
      const held = shared ? null : request.held;
      return write(({ committer }) => committer.takeOver({ ...request, held }));
    },
    async list(query) {
      return read(({ administration }) => administration.list(query));
    },
    async get(endpoint, eventId) {
      return read(({ administration }) => administration.get(endpoint, eventId));
    },
    async stats(endpoint) {
      return read(({ administration }) => administration.stats(endpoint));
    },
    replay: (moves, now) => write(({ administration }) => administration.replay(moves, now)),
    discard: (events, now) => write(({ administration }) => administration.discard(events, now)),
    prune: (request) => write(({ administration }) => administration.prune(request)),
  };
}

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

const OPTION_NAMES = new Set(["path", "shared", "operator"]);

function assertOptions(options: SqliteStoreOptions): void {
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.has(name));
  if (unknown !== undefined) {
    const known = [...OPTION_NAMES].join(", ");
    throw new SignalboxError("option_unknown", `sqliteStore has no option "${unknown}".`, `It takes ${known}.`);
  }
  if (typeof options.path !== "string" || options.path.trim() === "" || /:memory:|\0/.test(options.path)) {
    const help = "Pass the path of a file; for an inbox in memory use memoryStore() of signalbox/stores/memory.";
    throw new SignalboxError("option_invalid", "sqliteStore needs the path of a file.", help);
  }
}
