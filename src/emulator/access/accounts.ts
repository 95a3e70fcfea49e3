import { RANKING_SORTS, type RankingSort } from "../../api/rankings.js";
import { ENTITLEMENTS, type Entitlement, type Tier } from "../../api/access.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "../operations/service-error.js";

/** The account feature that an extra sort of the rankings requires (service document, Authentication 5). */
export type RankingFeature = `market.sort.${RankingSort}`;

/** What an account can use beyond the basic operations. */
export type AccountFeature = Entitlement | RankingFeature;

/** The account of a caller. */
export interface AccountView {
  accountId: number;
  tier: Tier;
  entitlements: ReadonlySet<AccountFeature>;
  /** Whether the account has Developer Access, with a monthly quota and fewer rows in each answer. */
  hasQuota: boolean;
}

/** An account as the control API shows it. */
export interface AccountInfo {
  account_id: number;
  name: string;
  tier: Tier;
  entitlements: AccountFeature[];
  created_at: string;
}

const RANKING_FEATURES: readonly RankingFeature[] = RANKING_SORTS.map((sort) => `market.sort.${sort}` as const);

export const ACCOUNT_FEATURES: readonly AccountFeature[] = [...ENTITLEMENTS, ...RANKING_FEATURES];

/** Returns the features of a new account (service document, Authentication 5). */
function featuresOf(tier: Tier): readonly AccountFeature[] {
  // Developer Access can call the two research operations without their entitlements, so it does not get them.
  return tier === "developer" ? ["api.access", ...RANKING_FEATURES] : ACCOUNT_FEATURES;
}

export interface Entitled {
  /** If absent, a new account or an account with a new tier gets the features of its tier. */
  entitlements?: readonly AccountFeature[] | undefined;
}

interface AccountRow {
  account_id: number;
  name: string;
  tier: Tier;
  created_at: number;
}

export function createAccounts({ database, clock }: Pick<EmulatorCore, "database" | "clock">) {
  const insert = database.prepare("INSERT INTO account (name, tier, created_at) VALUES (?, ?, ?)");
  const setTier = database.prepare("UPDATE account SET tier = ? WHERE account_id = ?");
  const select = database.prepare<[number], AccountRow>("SELECT * FROM account WHERE account_id = ?");
  const selectAll = database.prepare<[], AccountRow>("SELECT * FROM account ORDER BY account_id");
  const grant = database.prepare("INSERT OR IGNORE INTO account_entitlement VALUES (?, ?)");
  const clear = database.prepare("DELETE FROM account_entitlement WHERE account_id = ?");
  const granted = database
    .prepare<[number], AccountFeature>(
      "SELECT entitlement FROM account_entitlement WHERE account_id = ? ORDER BY entitlement",
    )
    .pluck();

  const accountInfo = (row: AccountRow): AccountInfo => ({
    account_id: row.account_id,
    name: row.name,
    tier: row.tier,
    entitlements: granted.all(row.account_id),
    created_at: new Date(row.created_at).toISOString(),
  });

  function read(accountId: number): AccountInfo {
    const row = select.get(accountId);
    if (row === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", "There is no account with this id.");
    return accountInfo(row);
  }

  function entitle(accountId: number, features: readonly AccountFeature[]): void {
    clear.run(accountId);
    for (const feature of features) grant.run(accountId, feature);
  }

  return {
    /** @throws ServiceError RESOURCE_NOT_FOUND */
    read,
    create: database.transaction(({ name, tier, entitlements }: Pick<AccountInfo, "name" | "tier"> & Entitled) => {
      const accountId = Number(insert.run(name, tier, clock.now()).lastInsertRowid);
      entitle(accountId, entitlements ?? featuresOf(tier));
      return read(accountId);
    }),
    /** Changes the given fields. @throws ServiceError RESOURCE_NOT_FOUND */
    update: database.transaction(
      (accountId: number, { tier, entitlements }: { tier?: Tier | undefined } & Entitled) => {
        const before = read(accountId);
        if (tier !== undefined) setTier.run(tier, accountId);
        // If only the tier changes, the account gets the features of the new tier.
        const features = entitlements ?? (tier === undefined || tier === before.tier ? undefined : featuresOf(tier));
        if (features !== undefined) entitle(accountId, features);
        return read(accountId);
      },
    ),
    list: () => selectAll.all().map(accountInfo),
    /** Null when there is no such account. */
    view(accountId: number): AccountView | null {
      const tier = select.get(accountId)?.tier;
      if (tier === undefined) return null;
      return { accountId, tier, entitlements: new Set(granted.all(accountId)), hasQuota: tier === "developer" };
    },
  };
}
