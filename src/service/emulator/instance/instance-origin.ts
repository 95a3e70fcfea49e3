import type { Scope, Tier } from "../../contract/access.js";
import { OptionError } from "../../../base/options/option-error.js";
import { keptKey, type KeptKey } from "../access/api-keys.js";
import type { Access } from "../access/create-access.js";
import type { Database } from "../database/database.js";
import { readSetting, writeSetting } from "../database/settings.js";
import { FACTORY, type EmulatorConfig } from "./options.js";

/** How a database was started. A reset starts it in the same way again. */
export interface InstanceOrigin {
  seed: number;
  /**
   * The start of the clock in the options, in milliseconds since 1970; null: it started at the
   * present.
   */
  startAtMs: number | null;
  accounts: readonly FirstAccount[];
}

/** How a new database starts. Without a seed it has the default one. */
export type StartOrigin = Omit<InstanceOrigin, "seed"> & { seed: number | null };

/** An account of a new database. The key itself is not stored. */
interface FirstAccount {
  name: string;
  tier: Tier;
  scopes: readonly Scope[];
  key: KeptKey;
}

/** Returns the accounts of the options as they are stored. */
export function firstAccounts({ accounts }: Pick<EmulatorConfig, "accounts">): FirstAccount[] {
  return accounts.map(({ key, ...account }) => ({ ...account, key: keptKey(key) }));
}

const DEFAULT_SEED = 1;
const SEED = "seed";
const START_AT = "start_at_ms";
const ACCOUNTS = "accounts";

/**
 * Stores how a new database starts, and creates its accounts. Does not change a database that was
 * started before.
 */
export function storeOrigin(
  database: Database,
  { accounts, keys }: Access,
  { seed, startAtMs, accounts: first }: StartOrigin,
): void {
  if (readSetting(database, SEED) !== null) return;
  database.transaction(() => {
    writeSetting(database, SEED, String(seed ?? DEFAULT_SEED));
    if (startAtMs !== null) writeSetting(database, START_AT, String(startAtMs));
    writeSetting(database, ACCOUNTS, JSON.stringify(first));
    for (const { name, tier, key, scopes } of first) {
      keys.add(accounts.create({ name, tier }).account_id, scopes, key);
    }
  })();
}

/**
 * @param wantedSeed the seed of the options
 * @throws SignalboxError `option_invalid` when the database was made with another seed
 */
export function readOrigin(database: Database, wantedSeed: number | null): InstanceOrigin {
  const seed = Number(readSetting(database, SEED));
  if (wantedSeed !== null && wantedSeed !== seed) {
    const problem =
      "the database was made with another seed; leave the option out, or use another file";
    throw new OptionError(FACTORY, "seed", problem);
  }
  const startAt = readSetting(database, START_AT);
  const accounts = JSON.parse(readSetting(database, ACCOUNTS) ?? "[]") as FirstAccount[];
  return { seed, startAtMs: startAt === null ? null : Number(startAt), accounts };
}
