import { createHash } from "node:crypto";
import type { Scope } from "../../contract/access.js";
import type { EmulatorCore } from "../instance/core.js";
import { randomUuid } from "../instance/random-source.js";
import { ServiceError } from "../operations/service-error.js";

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
const dateTime = (atMs: number): string => new Date(atMs).toISOString();
const keyInfo = (row: KeyRow): ApiKeyInfo => ({
  ...row,
  scopes: JSON.parse(row.scopes) as Scope[],
  created_at: dateTime(row.created_at),
  revoked_at: row.revoked_at === null ? null : dateTime(row.revoked_at),
});

/** The API keys, and the session tokens, which are keys that expire. */
export function createApiKeys({
  database,
  clock,
  random,
}: Pick<EmulatorCore, "database" | "clock" | "random">) {
  const SELECT = "SELECT key_id, account_id, hint, scopes, created_at, revoked_at FROM api_key";
  const insert = database.prepare(
    "INSERT INTO api_key (key_id, account_id, key_hash, hint, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const select = database.prepare<[string], KeyRow>(`${SELECT} WHERE key_id = ?`);
  const byHash = database.prepare<[string, number], KeyRow>(
    `${SELECT} WHERE key_hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const selectAll = database.prepare<[number], KeyRow>(
    `${SELECT} WHERE account_id = ? AND expires_at IS NULL ORDER BY created_at, key_id`,
  );
  const revoke = database.prepare(
    "UPDATE api_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL",
  );

  function read(keyId: string): ApiKeyInfo {
    const row = select.get(keyId);
    if (row === undefined)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no API key with this id.");
    return keyInfo(row);
  }

  /** Stores a key. @returns its id */
  function add(
    accountId: number,
    scopes: readonly Scope[],
    { hash, hint }: KeptKey,
    expiresAt: number | null = null,
  ) {
    const keyId = `key_${randomUuid(random)}`;
    insert.run(
      keyId,
      accountId,
      hash,
      hint,
      JSON.stringify([...new Set(scopes)]),
      clock.now(),
      expiresAt,
    );
    return keyId;
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
      revoke.run(clock.now(), keyId);
      return read(keyId);
    },
    list: (accountId: number) => selectAll.all(accountId).map(keyInfo),
    /** Finds the key or the session token that a caller sent, unless it has expired. */
    find(token: string): ApiKeyInfo | null {
      const row = byHash.get(hashOf(token), clock.now());
      return row === undefined ? null : keyInfo(row);
    },
  };
}
