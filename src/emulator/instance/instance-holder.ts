import type { Database } from "../database/database.js";
import { isSignalboxError, SignalboxError } from "../../errors.js";
import { worldControl } from "../control/state-control.js";
import {
  openDatabase,
  openSnapshot,
  removeDatabase,
  replaceDatabase,
  writeDatabase,
} from "../database/open-database.js";
import type { ReportEvent } from "./events.js";
import type { EmulatorConfig } from "./options.js";
import { answerWithoutWorld, withoutWorld } from "../http/answer-without-instance.js";
import type { RequestListener } from "../http/create-app.js";
import { openWorld, type World, type WorldParts } from "./open-instance.js";
import { firstAccounts } from "./instance-origin.js";
import { ServiceError } from "../operations/service-error.js";

/** Keeps the one world there is, and replaces it. */
export interface WorldHolder {
  open(): void;
  /** @throws SignalboxError `emulator_not_running` */
  current(): World;
  /** Answers by the current world, and when there is none says so. */
  listener: RequestListener;
  control: ReturnType<typeof worldControl>;
  close(): Promise<void>;
}

/** How the world of a database begins, or goes on. */
type Beginning = Pick<WorldParts, "seed" | "startAtMs" | "accounts" | "resumption">;

/** As a snapshot. */
const WHERE_IT_STOOD: Beginning = { seed: undefined, startAtMs: null, accounts: [], resumption: "stood_still" };
/** A file that was made, or left, a moment ago: the old world may have taken long to end since. */
const AS_TIME_WENT_ON: Beginning = { ...WHERE_IT_STOOD, resumption: "gone_on" };

/** @throws SignalboxError from `open`, when the database is none of ours */
export function createWorldHolder(config: EmulatorConfig, report: ReportEvent): WorldHolder {
  const { db } = config;
  let world: World | null = null;
  let changing: Promise<unknown> = Promise.resolve();

  function current(): World {
    if (world === null) throw notRunning();
    return world;
  }

  const hostNow = (): number | null => world?.now() ?? null;

  function worldOf(database: Database, beginning: Beginning): World {
    try {
      return openWorld({ database, ...beginning, config, report, hostControl: control, hostNow });
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** What an old world cannot write down any more is of no use to the new one. */
  async function end(old: World): Promise<void> {
    await old
      .close()
      .catch((error: unknown) => report({ event: "failed", about: "the old state did not close well", error }));
  }

  /** The new world is there before the old one goes, and no request sees none. */
  async function replaceInMemory(make: () => Database, beginning: Beginning): Promise<void> {
    const old = current();
    world = worldOf(make(), beginning);
    await end(old);
  }

  /** The new world is made in a file beside the old one's, and takes its place when nothing can go wrong with it any more. */
  async function replaceFile(path: string, make: (path: string) => Database, beginning: Beginning): Promise<void> {
    const old = current();
    const beside = `${path}.loading`;
    try {
      removeDatabase(beside);
      // Closed in the turn in which it was opened: nothing that is due begins yet.
      await worldOf(make(beside), beginning).close();
      await end(old);
      try {
        replaceDatabase(path, beside);
      } finally {
        reopen(path);
      }
    } catch (error) {
      removeQuietly(beside);
      throw error;
    }
  }

  /** @throws ServiceError DATA_UNAVAILABLE, and then there is no world any more: the old one is closed */
  function reopen(path: string): void {
    world = null;
    try {
      world = worldOf(openDatabase(path), AS_TIME_WENT_ON);
    } catch (error) {
      report({ event: "failed", about: "the file could not be opened again", error });
      throw withoutWorld();
    }
  }

  /** One after the other. */
  function replace(make: (path: string | null) => Database, beginning: (old: World) => Beginning): Promise<number> {
    const change = changing.then(async () => {
      const how = beginning(current());
      try {
        await (db === null ? replaceInMemory(() => make(null), how) : replaceFile(db, make, how));
      } catch (error) {
        throw changeError(error);
      }
      return current().now();
    });
    changing = change.catch(() => undefined);
    return change;
  }

  const control = worldControl({
    snapshot: () => current().snapshot(),
    load(bytes) {
      const snapshot = readSnapshot(bytes);
      if (db !== null) snapshot.close();
      const make = (path: string | null): Database => (path === null ? snapshot : writtenDatabase(path, bytes));
      return replace(make, () => WHERE_IT_STOOD);
    },
    // What the options leave out is as the world that ends was made.
    reset: () =>
      replace(openDatabase, ({ origin }) => ({
        seed: config.seed ?? origin.seed,
        startAtMs: config.startAtMs ?? origin.startAtMs,
        accounts: config.accounts.length > 0 ? firstAccounts(config) : origin.accounts,
        resumption: "gone_on",
      })),
  });

  const noWorld = answerWithoutWorld(config);

  return {
    current,
    control,
    listener: (request, response) => (world?.listener ?? noWorld)(request, response),
    open() {
      const { seed, startAtMs } = config;
      world = worldOf(openDatabase(db), {
        seed: seed ?? undefined,
        startAtMs,
        accounts: firstAccounts(config),
        resumption: "gone_on",
      });
    },
    async close() {
      await changing;
      const last = world;
      world = null;
      await last?.close();
    },
  };
}

function writtenDatabase(path: string, bytes: Uint8Array): Database {
  writeDatabase(path, bytes);
  return openDatabase(path);
}

/** What went wrong before tells more than what stands in the way of removing it. */
function removeQuietly(path: string): void {
  try {
    removeDatabase(path);
  } catch {
    // The next change tries again.
  }
}

/** What the disk says is told; all else is a bug of ours. */
function changeError(error: unknown): unknown {
  if (isSignalboxError(error)) return new ServiceError("DATA_UNAVAILABLE", `${error.message} Nothing changed.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(E[A-Z]+|ERR_FS_\w+|SQLITE_\w+)$/.test(code)) return error;
  return new ServiceError(
    "DATA_UNAVAILABLE",
    `The new state could not be written (${code}); see to the disk. Nothing changed.`,
  );
}

/** Looked at before anything is given up. */
function readSnapshot(bytes: Uint8Array): Database {
  try {
    return openSnapshot(bytes);
  } catch (error) {
    const message = isSignalboxError(error) ? error.message : "The snapshot cannot be read.";
    throw new ServiceError("INVALID_BODY", message);
  }
}

export function notRunning(): SignalboxError {
  return new SignalboxError("emulator_not_running", "The emulator is not running.", "Await start() first.");
}
