import type { Database } from "./database/database.js";
import { invalidOption } from "../option-error.js";
import type { Access } from "./access/create-access.js";
import { readSetting, writeSetting } from "./database/settings.js";
import type { EmulatorConfig } from "./emulator-options.js";

/** How a world began, so that a reset can begin it again. */
export interface WorldOrigin {
  seed: number;
  /** Where its clock was told to begin, in milliseconds since 1970; null: it was told nothing. */
  startAtMs: number | null;
}

/** The seed of a new database that is told none. */
export const DEFAULT_SEED = 1;
const SEED = "seed";
const START_AT = "start_at_ms";

/** Notes how a new database began, and gives it the accounts of the options: both, or neither. One that began stays so. */
export function seedWorld(
  database: Database,
  { accounts, keys }: Access,
  config: Pick<EmulatorConfig, "accounts">,
  { seed, startAtMs }: WorldOrigin,
): void {
  // Tables without that are of a process that ended right after it had made them.
  if (readSetting(database, SEED) !== null) return;
  database.transaction(() => {
    writeSetting(database, SEED, String(seed));
    if (startAtMs !== null) writeSetting(database, START_AT, String(startAtMs));
    for (const { name, tier, key, scopes } of config.accounts) {
      keys.create(accounts.create({ name, tier }).account_id, scopes, key);
    }
  })();
}

/**
 * @param wantedSeed that of the options
 * @throws SignalboxError `option_invalid` when the database was made with another one
 */
export function readOrigin(database: Database, wantedSeed: number | null): WorldOrigin {
  const seed = Number(readSetting(database, SEED));
  if (wantedSeed !== null && wantedSeed !== seed) {
    throw invalidOption("createEmulator", "seed", "the database was made with another one; leave it out, or reset");
  }
  const startAt = readSetting(database, START_AT);
  return { seed, startAtMs: startAt === null ? null : Number(startAt) };
}
