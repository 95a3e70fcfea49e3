import { renameSync, rmSync, writeFileSync } from "node:fs";
import type { Database } from "./database/database.js";
import type { Logger } from "pino";
import { isSignalboxError, SignalboxError } from "../errors.js";
import { worldControl } from "./control/world-control.js";
import { openDatabase, openSnapshot, removeDatabase } from "./database/open-database.js";
import type { EmulatorConfig } from "./emulator-options.js";
import { openWorld, type World, type WorldParts } from "./open-world.js";
import { ServiceError } from "./service-error.js";

/** Keeps the one world there is, and replaces it. */
export interface WorldHolder {
  open(): void;
  /** @throws SignalboxError `emulator_not_running` */
  current(): World;
  control: ReturnType<typeof worldControl>;
  close(): Promise<void>;
}

/** @throws SignalboxError from `open`, when the database is none of ours */
export function createWorldHolder(config: EmulatorConfig, logger: Logger): WorldHolder {
  const { db } = config;
  let world: World | null = null;
  let changing: Promise<void> = Promise.resolve();

  function current(): World {
    if (world === null) throw notRunning();
    return world;
  }

  function enter(database: Database, how: Pick<WorldParts, "seed" | "startAtMs" | "resumption">): void {
    try {
      world = openWorld({ database, ...how, config, logger, hostControl: control });
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** One after the other. `make` runs in the turn in which the old world ended, so that no request sees none. */
  function replace(make: (old: World) => void): Promise<void> {
    const change = changing.then(async () => {
      const old = current();
      await old.close();
      make(old);
    });
    changing = change.catch(() => undefined);
    return change;
  }

  const control = worldControl({
    snapshot: () => current().snapshot(),
    load(bytes) {
      const snapshot = readSnapshot(bytes);
      const how = { seed: undefined, startAtMs: null, resumption: "stood_still" } as const;
      if (db === null) return replace(() => enter(snapshot, how));
      snapshot.close();
      const beside = besideIt(db);
      writeWhole(beside, bytes);
      return replace(() => {
        removeDatabase(db);
        renameSync(beside, db);
        enter(openDatabase(db), how);
      });
    },
    reset: () =>
      replace((old) => {
        if (db !== null) removeDatabase(db);
        const { seed, beganAtMs: startAtMs } = old.origin;
        enter(openDatabase(db), { seed, startAtMs, resumption: "gone_on" });
      }),
  });

  return {
    current,
    control,
    open() {
      const { seed, startAtMs } = config;
      enter(openDatabase(db), { seed: seed ?? undefined, startAtMs, resumption: "gone_on" });
    },
    async close() {
      await changing;
      const last = world;
      world = null;
      await last?.close();
    },
  };
}

/** Where a snapshot is written first: a full disk, or a process that ends, is to cost nothing of what there is. */
const besideIt = (path: string): string => `${path}.loading`;

function writeWhole(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes);
  } catch {
    rmSync(path, { force: true });
    throw new ServiceError("DATA_UNAVAILABLE", "The snapshot could not be written; see to the disk. Nothing changed.");
  }
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
