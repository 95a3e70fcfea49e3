import { isSignalboxError, SignalboxError } from "../../../base/errors.js";
import { stateControl } from "../control/state-control.js";
import type { Database } from "../database/database.js";
import {
  openDatabase,
  openSnapshot,
  takeSnapshot,
  writeSnapshot,
} from "../database/open-database.js";
import type { RequestListener } from "../http/create-app.js";
import { ServiceError } from "../operations/service-error.js";
import type { ReportEvent } from "./events.js";
import { openInstance, type Instance, type InstanceParts, firstAccounts } from "./open-instance.js";
import type { EmulatorConfig } from "./options.js";

/** How a database is started or continued. */
type Start = Pick<InstanceParts, "origin" | "resumption">;

/** Continues with the data that a database has. */
const RESUMED: Start = {
  origin: { seed: null, startAtMs: null, accounts: [] },
  resumption: "at_present",
};

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
      // Also after the close, for an answer that is still to be sent.
      const now = (): number => instance?.now() ?? config.clock.now();
      return openInstance({ database, ...start, config, report, stateControl: control, now });
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /**
   * Replaces the state and its instance. Calls meanwhile get 503 from the old instance, which is
   * closed first because a file can be open only once.
   *
   * @returns the time at which the new state continues
   */
  async function replace(bytes: Uint8Array, start: Start): Promise<number> {
    if (db !== null) onDisk(() => writeSnapshot(db, bytes));
    await current()
      .close()
      // Only reported, because the new state replaces what was not written.
      .catch((error: unknown) =>
        report({ event: "failed", about: "the old state did not close", error }),
      );
    try {
      if (db !== null) onDisk(() => takeSnapshot(db));
    } finally {
      // If this throws, the closed instance stays, and answers every call with 503.
      instance = instanceOf(db === null ? openSnapshot(bytes) : openDatabase(db), start);
    }
    return current().now();
  }

  /**
   * Opens an instance of the snapshot, and closes it: one that cannot run must not replace the
   * state. @throws ServiceError INVALID_BODY
   */
  async function assertSnapshot(bytes: Uint8Array): Promise<void> {
    try {
      await instanceOf(openSnapshot(bytes), { ...RESUMED, resumption: "frozen" }).close();
    } catch (error) {
      const message = isSignalboxError(error) ? error.message : "The snapshot cannot be read.";
      throw new ServiceError("INVALID_BODY", message);
    }
  }

  /** Runs one change of the state after the other. */
  function inOrder(change: () => Promise<number>): Promise<number> {
    const changed = changing.then(change);
    changing = changed.catch(() => undefined);
    return changed;
  }

  const control = stateControl({
    snapshot: () => current().snapshot(),
    async load(bytes) {
      await assertSnapshot(bytes);
      return inOrder(() => replace(bytes, { ...RESUMED, resumption: "frozen" }));
    },
    // For an option that is not set, a reset uses the value with which the database was first
    // started.
    reset: () =>
      inOrder(async () => {
        const { origin } = current();
        const first = {
          seed: config.seed ?? origin.seed,
          startAtMs: config.startAtMs ?? origin.startAtMs,
          accounts: config.accounts.length > 0 ? firstAccounts(config) : origin.accounts,
        };
        const made = instanceOf(openDatabase(null), { ...RESUMED, origin: first });
        // It closes in the same turn of the event loop, so that no due work starts.
        const bytes = await made.snapshot();
        await made.close();
        return replace(bytes, RESUMED);
      }),
  });

  const listener: RequestListener = (request, response) => current().listener(request, response);
  return {
    /** @throws SignalboxError `emulator_not_running` */
    current,
    listener,
    /** Ends the answers that have no end of their own. */
    endStreams: (): void => instance?.endStreams(),
    open(): void {
      const { seed, startAtMs } = config;
      const origin = { seed, startAtMs, accounts: firstAccounts(config) };
      instance = instanceOf(openDatabase(db), { ...RESUMED, origin });
    },
    async close(): Promise<void> {
      await changing;
      const last = instance;
      instance = null;
      await last?.close();
    },
  };
}

/** @throws ServiceError DATA_UNAVAILABLE */
function onDisk(write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new ServiceError(
      "DATA_UNAVAILABLE",
      `The new state could not be written (${String(error)}). Check the disk. Nothing changed.`,
    );
  }
}

export function notRunning(): SignalboxError {
  return new SignalboxError(
    "emulator_not_running",
    "The emulator is not running.",
    "Await start() first.",
  );
}
