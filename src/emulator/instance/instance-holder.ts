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

/** How the state of a database starts, or continues. */
type Start = Pick<InstanceParts, "seed" | "startAtMs" | "accounts" | "resumption">;

/** Continues at the moment at which a snapshot was taken. */
const RESUME_FROZEN: Start = { seed: undefined, startAtMs: null, accounts: [], resumption: "frozen" };
/** Continues at the present: closing the old instance may have taken long. */
const RESUME_AT_PRESENT: Start = { ...RESUME_FROZEN, resumption: "at_present" };

/**
 * Holds the one instance of the service, and replaces it at a reset or when a snapshot is loaded.
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
      const hostNow = (): number | null => instance?.now() ?? null;
      return openInstance({ database, ...start, config, report, hostControl: control, hostNow });
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** The new state does not depend on what the old instance fails to write. */
  async function end(old: Instance): Promise<void> {
    await old
      .close()
      .catch((error: unknown) => report({ event: "failed", about: "the old state did not close", error }));
  }

  /** The new instance is open before the old one closes, so every request finds one. */
  async function replaceInMemory(make: () => Database, start: Start): Promise<void> {
    const old = current();
    instance = instanceOf(make(), start);
    await end(old);
  }

  /** The new state is written to a second file, which takes the place of the first one once it is complete. */
  async function replaceFile(path: string, make: (path: string) => Database, start: Start): Promise<void> {
    const old = current();
    const beside = `${path}.loading`;
    try {
      removeDatabase(beside);
      // Closed in the turn in which it was opened, so no work that is due starts.
      await instanceOf(make(beside), start).close();
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

  /** @throws ServiceError DATA_UNAVAILABLE, and then there is no instance: the old one is closed */
  function reopen(path: string): void {
    instance = null;
    try {
      instance = instanceOf(openDatabase(path), RESUME_AT_PRESENT);
    } catch (error) {
      report({ event: "failed", about: "the file could not be opened again", error });
      throw withoutInstance();
    }
  }

  /** Changes run one after the other. @returns the time at which the new state continues */
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
      const make = (path: string | null): Database => (path === null ? snapshot : writtenDatabase(path, bytes));
      return replace(make, () => RESUME_FROZEN);
    },
    // Where the options say nothing, the new state starts as the old one did.
    reset: () =>
      replace(openDatabase, ({ origin }) => ({
        seed: config.seed ?? origin.seed,
        startAtMs: config.startAtMs ?? origin.startAtMs,
        accounts: config.accounts.length > 0 ? firstAccounts(config) : origin.accounts,
        resumption: "at_present",
      })),
  });

  /** Answers every request with 503. */
  const unavailable: RequestListener = (request, response) => {
    const requestId = `req_${randomUuid(config.random)}`;
    const { status, headers, code, message } = withoutInstance();
    const answer = { status, headers, body: envelope(code, message, requestId) };
    sendAnswer(response, answer, { requestId, hasBody: request.method !== "HEAD", nowMs: config.clock.now() });
  };

  /** Answers by the current instance, or with 503 when there is none. */
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
    "The emulator's file could not be opened again; check the disk, and start the emulator anew.",
  );

function writtenDatabase(path: string, bytes: Uint8Array): Database {
  writeDatabase(path, bytes);
  return openDatabase(path);
}

/** An error that came before says more than one about the removal. */
function removeQuietly(path: string): void {
  try {
    removeDatabase(path);
  } catch {
    // The next change tries again.
  }
}

/** Errors of the disk are answered as such; other errors are bugs of ours. */
function changeError(error: unknown): unknown {
  if (isSignalboxError(error)) return new ServiceError("DATA_UNAVAILABLE", `${error.message} Nothing changed.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(E[A-Z]+|ERR_FS_\w+|SQLITE_\w+)$/.test(code)) return error;
  return new ServiceError(
    "DATA_UNAVAILABLE",
    `The new state could not be written (${code}); check the disk. Nothing changed.`,
  );
}

/** Checked before the old state is given up. @throws ServiceError INVALID_BODY */
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
