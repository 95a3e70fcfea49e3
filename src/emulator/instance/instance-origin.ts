import type { Scope, Tier } from "../../api/access.js";
import { invalidOption } from "../../options/option-error.js";
import { keptKey, type KeptKey } from "../access/api-keys.js";
import type { Access } from "../access/create-access.js";
import type { Database } from "../database/database.js";
import { readSetting, writeSetting } from "../database/settings.js";
import type { EmulatorConfig } from "./options.js";

/** How an instance started, so that a reset can start it again. */
export interface InstanceOrigin {
  seed: number;
  /** Where the options made its clock start, in milliseconds since 1970; null: they did not say. */
  startAtMs: number | null;
  accounts: readonly FirstAccount[];
}

/** An account of a new database. Its key itself is not stored. */
interface FirstAccount {
  name: string;
  tier: Tier;
  scopes: readonly Scope[];
  key: KeptKey;
}

/** The accounts of the options, as they are stored. */
export function firstAccounts({ accounts }: Pick<EmulatorConfig, "accounts">): FirstAccount[] {
  return accounts.map(({ key, ...account }) => ({ ...account, key: keptKey(key) }));
}

const DEFAULT_SEED = 1;
const SEED = "seed";
const START_AT = "start_at_ms";
const ACCOUNTS = "accounts";

/** Stores how a new database started, and creates its accounts, in one transaction. Changes nothing in a used one. */
export function storeOrigin(
  database: Database,
  { accounts, keys }: Access,
  { seed = DEFAULT_SEED, startAtMs, accounts: first }: Omit<InstanceOrigin, "seed"> & { seed: number | undefined },
): void {
  // Tables without a seed are left from a process that ended right after it had made them.
  if (readSetting(database, SEED) !== null) return;
  database.transaction(() => {
    writeSetting(database, SEED, String(seed));
    if (startAtMs !== null) writeSetting(database, START_AT, String(startAtMs));
    const written = first.map(({ key: { hash, hint }, ...account }) => ({
      ...account,
      hash: hash.toString("hex"),
      hint,
    }));
    writeSetting(database, ACCOUNTS, JSON.stringify(written));
    for (const { name, tier, key, scopes } of first) {
      keys.adopt(accounts.create({ name, tier }).account_id, scopes, key);
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
    const problem = "the database was made with another one; leave it out, or take another file";
    throw invalidOption("createEmulator", "seed", problem);
  }
  const startAt = readSetting(database, START_AT);
  return { seed, startAtMs: startAt === null ? null : Number(startAt), accounts: readAccounts(database) };
}

type WrittenAccount = Omit<FirstAccount, "key"> & { hash: string; hint: string };

function readAccounts(database: Database): FirstAccount[] {
  const accounts = JSON.parse(readSetting(database, ACCOUNTS) ?? "[]") as WrittenAccount[];
  return accounts.map(({ hash, hint, ...account }) => ({ ...account, key: { hash: Buffer.from(hash, "hex"), hint } }));
}
