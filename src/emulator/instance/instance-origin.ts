import type { Scope, Tier } from "../../api/access.js";
import type { Database } from "../database/database.js";
import { invalidOption } from "../../options/option-error.js";
import { keptKey, type KeptKey } from "../access/api-keys.js";
import type { Access } from "../access/create-access.js";
import { readSetting, writeSetting } from "../database/settings.js";
import type { EmulatorConfig } from "./options.js";

/** How a world began, so that a reset can begin it again. */
export interface WorldOrigin {
  seed: number;
  /** Where its clock was told to begin, in milliseconds since 1970; null: it was told nothing. */
  startAtMs: number | null;
  accounts: readonly FirstAccount[];
}

/** An account of a new database. Its key is known to whoever gave it, and not kept. */
interface FirstAccount {
  name: string;
  tier: Tier;
  scopes: readonly Scope[];
  key: KeptKey;
}

/** Those of the options, as they are kept. */
export function firstAccounts({ accounts }: Pick<EmulatorConfig, "accounts">): FirstAccount[] {
  return accounts.map(({ key, ...account }) => ({ ...account, key: keptKey(key) }));
}

/** The seed of a new database that is told none. */
export const DEFAULT_SEED = 1;
const SEED = "seed";
const START_AT = "start_at_ms";
const ACCOUNTS = "accounts";

/** Notes how a new database began, and gives it its accounts: both, or neither. One that began stays so. */
export function seedWorld(
  database: Database,
  { accounts, keys }: Access,
  { seed, startAtMs, accounts: first }: WorldOrigin,
): void {
  // Tables without that are of a process that ended right after it had made them.
  if (readSetting(database, SEED) !== null) return;
  database.transaction(() => {
    writeSetting(database, SEED, String(seed));
    if (startAtMs !== null) writeSetting(database, START_AT, String(startAtMs));
    writeSetting(
      database,
      ACCOUNTS,
      JSON.stringify(first.map(({ key, ...account }) => ({ ...account, ...written(key) }))),
    );
    for (const { name, tier, key, scopes } of first) {
      keys.adopt(accounts.create({ name, tier }).account_id, scopes, key);
    }
  })();
}

type WrittenAccount = Omit<FirstAccount, "key"> & ReturnType<typeof written>;

const written = ({ hash, hint }: KeptKey): { hash: string; hint: string } => ({ hash: hash.toString("hex"), hint });

function readAccounts(database: Database): FirstAccount[] {
  const accounts = JSON.parse(readSetting(database, ACCOUNTS) ?? "[]") as WrittenAccount[];
  return accounts.map(({ hash, hint, ...account }) => ({ ...account, key: { hash: Buffer.from(hash, "hex"), hint } }));
}

/**
 * @param wantedSeed that of the options
 * @throws SignalboxError `option_invalid` when the database was made with another one
 */
export function readOrigin(database: Database, wantedSeed: number | null): WorldOrigin {
  const seed = Number(readSetting(database, SEED));
  if (wantedSeed !== null && wantedSeed !== seed) {
    throw invalidOption(
      "createEmulator",
      "seed",
      "the database was made with another one; leave it out, or take another file",
    );
  }
  const startAt = readSetting(database, START_AT);
  return { seed, startAtMs: startAt === null ? null : Number(startAt), accounts: readAccounts(database) };
}
