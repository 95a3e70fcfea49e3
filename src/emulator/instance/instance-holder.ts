import { isSignalboxError, SignalboxError } from "../../errors.js";
import { stateControl } from "../control/state-control.js";
import type { Database } from "../database/database.js";
import {
  openDatabase,
  openSnapshot,
  removeDatabase,
  replaceDatabase,
  writeDatabase,
} from "../database/open-database.js";
import { envelope, sendAnswer } from "../http/answer.js";
import type { RequestListener } from "../http/create-app.js";
import { ServiceError } from "../operations/service-error.js";
import type { ReportEvent } from "./events.js";
import { firstAccounts } from "./instance-origin.js";
import { openInstance, type Instance, type InstanceParts } from "./open-instance.js";
import type { EmulatorConfig } from "./options.js";
import { randomUuid } from "./random-source.js";

/** How a database is started or continued. */
type Start = Pick<InstanceParts, "seed" | "startAtMs" | "accounts" | "resumption">;

/** Continues at the time at which a snapshot was taken. */
const RESUME_FROZEN: Start = { seed: undefined, startAtMs: null, accounts: [], resumption: "frozen" };
/** Continues at the present. */
const RESUME_AT_PRESENT: Start = { ...RESUME_FROZEN, resumption: "at_present" };

/**
 * Holds the current instance of the service. A reset or a loaded snapshot replaces it.
 *
 * @throws SignalboxError from `open`, when the database cannot be used
 */
export function createInstanceHolder(config: EmulatorConfig, report: ReportEvent) {
  const { db } = config;
  let instance: Instance | null = null;
  let changing: Promise<unknown> = Promise.resolve();

  function current(): Instance {
    if (instance === null) throw notRunning();
    return instance;
  }

  function instanceOf(database: Database, start: Start): Instance {
    try {
      const currentNow = (): number | null => instance?.now() ?? null;
      return openInstance({ database, ...start, config, report, stateControl: control, currentNow });
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Closes the old instance. An error is only reported, because the new state replaces what was not written. */
  const closeOld = (old: Instance): Promise<void> =>
    old.close().catch((error: unknown) => report({ event: "failed", about: "the old state did not close", error }));

  /** The new instance is opened before the old one closes, so every request finds an instance. */
  async function replaceInMemory(make: () => Database, start: Start): Promise<void> {
    const old = current();
    instance = instanceOf(make(), start);
    await closeOld(old);
  }

  /** The new state is written to a second file, which replaces the first one when it is complete. */
  async function replaceFile(path: string, make: (path: string) => Database, start: Start): Promise<void> {
    const old = current();
    const newPath = `${path}.loading`;
    try {
      removeDatabase(newPath);
      // Creates the instance's data. It closes in the same turn of the event loop, so that no due work starts.
      await instanceOf(make(newPath), start).close();
      await closeOld(old);
      try {
        replaceDatabase(path, newPath);
      } finally {
        reopen(path);
      }
    } catch (error) {
      try {
        removeDatabase(newPath);
      } catch {
        // This error is dropped, because the first error is thrown. The next change removes the file.
      }
      throw error;
    }
  }

  /** @throws ServiceError DATA_UNAVAILABLE; in that case no instance is left, because the old one is closed */
  function reopen(path: string): void {
    instance = null;
    try {
      instance = instanceOf(openDatabase(path), RESUME_AT_PRESENT);
    } catch (error) {
      report({ event: "failed", about: "the file could not be opened again", error });
      throw withoutInstance();
    }
  }

  /** Runs one change after the other. @returns the time at which the new state continues */
  function replace(make: (path: string | null) => Database, startOf: (old: Instance) => Start): Promise<number> {
    const change = changing.then(async () => {
      const start = startOf(current());
      try {
        await (db === null ? replaceInMemory(() => make(null), start) : replaceFile(db, make, start));
      } catch (error) {
        throw changeError(error);
      }
      return current().now();
    });
    changing = change.catch(() => undefined);
    return change;
  }

  const control = stateControl({
    snapshot: () => current().snapshot(),
    load(bytes) {
      const snapshot = readSnapshot(bytes);
      if (db !== null) snapshot.close();
      function make(path: string | null): Database {
        if (path === null) return snapshot;
        writeDatabase(path, bytes);
        return openDatabase(path);
      }
      return replace(make, () => RESUME_FROZEN);
    },
    // For an option that is not set, a reset uses the value with which the database was first started.
    reset: () =>
      replace(openDatabase, ({ origin }) => ({
        seed: config.seed ?? origin.seed,
        startAtMs: config.startAtMs ?? origin.startAtMs,
        accounts: config.accounts.length > 0 ? firstAccounts(config) : origin.accounts,
        resumption: "at_present",
      })),
  });

  const unavailable: RequestListener = (request, response) => {
    const requestId = `req_${randomUuid(config.random)}`;
    const { status, headers, code, message } = withoutInstance();
    const answer = { status, headers, body: envelope(code, message, requestId) };
    sendAnswer(response, answer, { requestId, hasBody: request.method !== "HEAD", nowMs: config.clock.now() });
  };

  /** Calls the current instance, or answers 503 when there is none. */
  const listener: RequestListener = (request, response) => (instance?.listener ?? unavailable)(request, response);
  return {
    /** @throws SignalboxError `emulator_not_running` */
    current,
    control,
    listener,
    open(): void {
      const { seed, startAtMs } = config;
      instance = instanceOf(openDatabase(db), {
        seed: seed ?? undefined,
        startAtMs,
        accounts: firstAccounts(config),
        resumption: "at_present",
      });
    },
    async close(): Promise<void> {
      await changing;
      const last = instance;
      instance = null;
      await last?.close();
    },
  };
}

const withoutInstance = (): ServiceError =>
  new ServiceError(
    "DATA_UNAVAILABLE",
    "The emulator's file could not be opened again. Check the disk, and restart the emulator.",
  );

/** Returns the answer for an error of the disk. Other errors are bugs and are returned as they are. */
function changeError(error: unknown): unknown {
  if (isSignalboxError(error)) return new ServiceError("DATA_UNAVAILABLE", `${error.message} Nothing changed.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(E[A-Z]+|ERR_FS_\w+|SQLITE_\w+)$/.test(code)) return error;
  return new ServiceError(
    "DATA_UNAVAILABLE",
    `The new state could not be written (${code}). Check the disk. Nothing changed.`,
  );
}

/** @throws ServiceError INVALID_BODY */
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
