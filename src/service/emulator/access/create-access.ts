import { createHash } from "node:crypto";
import { ENTITLEMENTS, type Entitlement, type Scope, type Tier } from "../../contract/access.js";
import { LIMITS } from "../../contract/limits.js";
import { RANKING_SORTS, type RankingSort } from "../../contract/rankings.js";
import type { EmulatorCore } from "../instance/core.js";
import { randomUuid } from "../instance/random-source.js";
import { ServiceError } from "../operations/service-error.js";
import { dateTime, monthOf, monthStart } from "../time/emulator-clock.js";

/** The tables of accounts, keys and quotas. Times are milliseconds since 1970. */
export const ACCESS_SCHEMA = [
  `CREATE TABLE account (
  account_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  tier TEXT NOT NULL,
  entitlements TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;`,
  // The key itself is shown once and not stored. It has 256 random bits, so a fast hash is enough.
  // `expires_at`: null for a key: only the session tokens of the website expire.
  `CREATE TABLE api_key (
  key_id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account,
  key_hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_by_account ON api_key (account_id);`,
  // The counted calls of an account in a month (a MonthIndex).
  `CREATE TABLE quota_use (
  account_id INTEGER NOT NULL REFERENCES account,
  month INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;`,
].join("\n");

/** The accounts with their keys and limits. */
export type Access = ReturnType<typeof createAccess>;

export function createAccess(core: EmulatorCore) {
  return {
    accounts: createAccounts(core),
    keys: createApiKeys(core),
    quota: createQuota(core),
    rateLimiter: createRateLimiter(core),
  };
}

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

const RANKING_FEATURES = RANKING_SORTS.map((sort) => `market.sort.${sort}` as const);

export const ACCOUNT_FEATURES: readonly AccountFeature[] = [...ENTITLEMENTS, ...RANKING_FEATURES];

/** Returns the features of a new account (service document, Authentication 5). */
function featuresOf(tier: Tier): readonly AccountFeature[] {
  // Developer Access can call the two research operations without their entitlements, so it does
  // not get them.
  return tier === "developer" ? ["api.access", ...RANKING_FEATURES] : ACCOUNT_FEATURES;
}

interface Entitled {
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
  created_at: dateTime(created_at),
});

const stored = (features: readonly AccountFeature[]): string =>
  JSON.stringify([...new Set(features)].sort());

function createAccounts({ database, clock }: EmulatorCore) {
  function read(accountId: number): AccountInfo {
    const sql = "SELECT * FROM account WHERE account_id = ?";
    const row = database.row<AccountRow>(sql, accountId);
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
      const row = { name, tier, entitlements: stored(entitlements), created_at: clock.now() };
      return read(database.put("account", row));
    },
    /** Changes the given fields. @throws ServiceError RESOURCE_NOT_FOUND */
    update(accountId: number, changes: { tier?: Tier | undefined } & Entitled): AccountInfo {
      const before = read(accountId);
      const { tier = before.tier } = changes;
      const own = tier === before.tier ? before.entitlements : featuresOf(tier);
      const sql = "UPDATE account SET tier = ?, entitlements = ? WHERE account_id = ?";
      database.run(sql, tier, stored(changes.entitlements ?? own), accountId);
      return read(accountId);
    },
    list: () =>
      database.rows<AccountRow>("SELECT * FROM account ORDER BY account_id").map(accountInfo),
  };
}

/** An API key as lists show it, without the key itself. */
export interface ApiKeyInfo {
  key_id: string;
  account_id: number;
  /** The first characters of the key: at most 10, and at most a quarter of the key. */
  hint: string;
  scopes: Scope[];
  created_at: string;
  revoked_at: string | null;
}

/** The stored parts of a key. */
export interface KeptKey {
  /** The SHA-256 of the key, hexadecimal. */
  hash: string;
  hint: string;
}

interface KeyRow extends Pick<ApiKeyInfo, "key_id" | "account_id" | "hint"> {
  scopes: string;
  created_at: number;
  revoked_at: number | null;
}

const SESSION_PREFIX = "sbs_";
/** The two operations that accept session tokens require no other scope. */
const SESSION_SCOPES: readonly Scope[] = ["research:read"];

/**
 * Whether a token is a session token of the website (service document, Authentication 3), not an
 * API key.
 */
export const isSessionToken = (token: string): boolean => token.startsWith(SESSION_PREFIX);

const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");
export const keptKey = (key: string): KeptKey => ({
  hash: hashOf(key),
  hint: key.slice(0, Math.min(10, Math.floor(key.length / 4))),
});
const keyInfo = (row: KeyRow): ApiKeyInfo => ({
  ...row,
  scopes: JSON.parse(row.scopes) as Scope[],
  created_at: dateTime(row.created_at),
  revoked_at: row.revoked_at === null ? null : dateTime(row.revoked_at),
});

/** The API keys, and the session tokens, which are keys that expire. */
function createApiKeys({ database, clock, random }: EmulatorCore) {
  const SELECT = "SELECT key_id, account_id, hint, scopes, created_at, revoked_at FROM api_key";

  function read(keyId: string): ApiKeyInfo {
    const row = database.row<KeyRow>(`${SELECT} WHERE key_id = ?`, keyId);
    if (row === undefined)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no API key with this id.");
    return keyInfo(row);
  }

  /** Stores a key. @returns its id */
  function add(
    account_id: number,
    scopes: readonly Scope[],
    { hash, hint }: KeptKey,
    expires_at: number | null = null,
  ): string {
    const key_id = `key_${randomUuid(random)}`;
    const key = { key_id, account_id, key_hash: hash, hint, created_at: clock.now(), expires_at };
    database.put("api_key", { ...key, scopes: JSON.stringify([...new Set(scopes)]) });
    return key_id;
  }

  const newToken = (prefix: string): string => `${prefix}${random.bytes(32).toString("base64url")}`;

  return {
    add,
    /** Makes a random key. Only its hash is stored, so the key cannot be read again. */
    create(accountId: number, scopes: readonly Scope[]): ApiKeyInfo & { key: string } {
      const key = newToken("sbk_");
      return { ...read(add(accountId, scopes, keptKey(key))), key };
    },
    createSession(accountId: number, lifetimeSeconds: number) {
      const token = newToken(SESSION_PREFIX);
      const expiresAt = clock.now() + lifetimeSeconds * 1000;
      add(accountId, SESSION_SCOPES, keptKey(token), expiresAt);
      return { token, expires_at: dateTime(expiresAt) };
    },
    /** Does nothing if the key is already revoked. @throws ServiceError RESOURCE_NOT_FOUND */
    revoke(keyId: string) {
      const sql = "UPDATE api_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL";
      database.run(sql, clock.now(), keyId);
      return read(keyId);
    },
    list: (accountId: number) =>
      database
        .rows<KeyRow>(
          `${SELECT} WHERE account_id = ? AND expires_at IS NULL ORDER BY created_at, key_id`,
          accountId,
        )
        .map(keyInfo),
    /** Finds the key or the session token that a caller sent, unless it has expired. */
    find(token: string): ApiKeyInfo | null {
      const sql = `${SELECT} WHERE key_hash = ? AND (expires_at IS NULL OR expires_at > ?)`;
      const row = database.row<KeyRow>(sql, hashOf(token), clock.now());
      return row === undefined ? null : keyInfo(row);
    },
  };
}

/**
 * Counts the calls of Developer Access in a UTC month, over all keys of an account (service
 * document, Limits).
 */
function createQuota({ database, clock }: EmulatorCore) {
  const limit = LIMITS.developerCallsPerMonth;
  const used = (accountId: number): number =>
    database.value<number>(
      "SELECT calls FROM quota_use WHERE account_id = ? AND month = ?",
      accountId,
      monthOf(clock.now()),
    ) ?? 0;
  const nextMonth = (): string => dateTime(monthStart(monthOf(clock.now()) + 1));

  return {
    /** The counted calls of this month. */
    used,
    /**
     * Makes a call that uses one unit of the quota unless it throws. @throws ServiceError
     * PRO_API_QUOTA_EXHAUSTED
     */
    counted<Result>(account: AccountInfo, call: () => Result): Result {
      if (!hasQuota(account)) return call();
      const { account_id } = account;
      const calls = used(account_id);
      if (calls >= limit) {
        const message = `The account's ${limit} calls of this month are used up. The next month begins at ${nextMonth()}.`;
        throw new ServiceError("PRO_API_QUOTA_EXHAUSTED", message, {
          details: { limit, remaining: 0 },
        });
      }
      const result = call();
      database.put("quota_use", { account_id, month: monthOf(clock.now()), calls: calls + 1 });
      return result;
    },
    /**
     * Returns the quota headers of an answer (service document, Errors); none for an account
     * without a quota.
     */
    headers(account: AccountInfo): Record<string, string> {
      if (!hasQuota(account)) return {};
      return {
        "X-Quota-Limit": String(limit),
        "X-Quota-Remaining": String(limit - used(account.account_id)),
        "X-Quota-Policy": `${limit};month`,
        "X-Quota-Reset": nextMonth(),
      };
    },
  };
}

const WINDOW_MS = LIMITS.requestWindowSeconds * 1000;

/**
 * Limits the request rate of each key and session, including free operations (service document,
 * Limits). The counts are in memory: after a restart they are 0.
 */
function createRateLimiter({ clock }: EmulatorCore) {
  /** The times of the counted requests of each key or session, oldest first. */
  const counted = new Map<string, number[]>();

  return {
    /**
     * Counts a request. A refused request is not counted.
     *
     * @param holder the id of a key or a session
     * @throws ServiceError RATE_LIMITED
     */
    admit(holder: string, tier: Tier): void {
      const most = LIMITS.requestsPerWindow[tier];
      const now = clock.now();
      // Times in the future were counted before the clock was set back. They no longer count.
      const times = (counted.get(holder) ?? []).filter((at) => at > now - WINDOW_MS && at <= now);
      if (times.length >= most) {
        const waitSeconds = Math.max(1, Math.ceil(((times[0] ?? now) + WINDOW_MS - now) / 1000));
        throw new ServiceError(
          "RATE_LIMITED",
          `The limit of ${most} requests in ${LIMITS.requestWindowSeconds} seconds for each key is reached. Wait ${waitSeconds} s.`,
          { headers: { "Retry-After": String(waitSeconds) } },
        );
      }
      counted.set(holder, [...times, now]);
    },
  };
}
