import { ENTITLEMENTS, type Entitlement, type Tier } from "../../contract/access.js";
import { RANKING_SORTS, type RankingSort } from "../../contract/rankings.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "../operations/service-error.js";

/**
 * The account feature that an extra sort of the rankings requires (service document, Authentication
 * 5).
 */
export type RankingFeature = `market.sort.${RankingSort}`;

/** What an account can use beyond the basic operations. */
export type AccountFeature = Entitlement | RankingFeature;

/** An account as the control API shows it. */
export interface AccountInfo {
  account_id: number;
  name: string;
  tier: Tier;
  entitlements: AccountFeature[];
  created_at: string;
}

/** Whether an account has Developer Access, with a monthly quota and fewer rows in each answer. */
export const hasQuota = ({ tier }: Pick<AccountInfo, "tier">): boolean => tier === "developer";

const RANKING_FEATURES: readonly RankingFeature[] = RANKING_SORTS.map(
  (sort) => `market.sort.${sort}` as const,
);

export const ACCOUNT_FEATURES: readonly AccountFeature[] = [...ENTITLEMENTS, ...RANKING_FEATURES];

/** Returns the features of a new account (service document, Authentication 5). */
function featuresOf(tier: Tier): readonly AccountFeature[] {
  // Developer Access can call the two research operations without their entitlements, so it does
  // not get them.
  return tier === "developer" ? ["api.access", ...RANKING_FEATURES] : ACCOUNT_FEATURES;
}

export interface Entitled {
  /** If absent, a new account or an account with a new tier gets the features of its tier. */
  entitlements?: readonly AccountFeature[] | undefined;
}

interface AccountRow extends Omit<AccountInfo, "entitlements" | "created_at"> {
  /** A JSON array. */
  entitlements: string;
  created_at: number;
}

const accountInfo = ({ entitlements, created_at, ...row }: AccountRow): AccountInfo => ({
  ...row,
  entitlements: JSON.parse(entitlements) as AccountFeature[],
  created_at: new Date(created_at).toISOString(),
});

const stored = (features: readonly AccountFeature[]): string =>
  JSON.stringify([...new Set(features)].sort());

export function createAccounts({ database, clock }: Pick<EmulatorCore, "database" | "clock">) {
  const insert = database.prepare(
    "INSERT INTO account (name, tier, entitlements, created_at) VALUES (?, ?, ?, ?)",
  );
  const change = database.prepare(
    "UPDATE account SET tier = ?, entitlements = ? WHERE account_id = ?",
  );
  const select = database.prepare<[number], AccountRow>(
    "SELECT * FROM account WHERE account_id = ?",
  );
  const selectAll = database.prepare<[], AccountRow>("SELECT * FROM account ORDER BY account_id");

  function read(accountId: number): AccountInfo {
    const row = select.get(accountId);
    if (row === undefined)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no account with this id.");
    return accountInfo(row);
  }

  return {
    /** @throws ServiceError RESOURCE_NOT_FOUND */
    read,
    create({
      name,
      tier,
      entitlements = featuresOf(tier),
    }: Pick<AccountInfo, "name" | "tier"> & Entitled): AccountInfo {
      return read(
        Number(insert.run(name, tier, stored(entitlements), clock.now()).lastInsertRowid),
      );
    },
    /** Changes the given fields. @throws ServiceError RESOURCE_NOT_FOUND */
    update(accountId: number, changes: { tier?: Tier | undefined } & Entitled): AccountInfo {
      const before = read(accountId);
      const { tier = before.tier } = changes;
      const own = tier === before.tier ? before.entitlements : featuresOf(tier);
      change.run(tier, stored(changes.entitlements ?? own), accountId);
      return read(accountId);
    },
    list: () => selectAll.all().map(accountInfo),
  };
}
