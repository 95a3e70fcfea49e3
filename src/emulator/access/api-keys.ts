import { createHash } from "node:crypto";
import type { Scope } from "../../api/access.js";
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

interface KeyRow {
  key_id: string;
  account_id: number;
  hint: string;
  scopes: string;
  created_at: number;
  revoked_at: number | null;
}

const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");
export const keptKey = (key: string): KeptKey => ({
  hash: hashOf(key),
  hint: key.slice(0, Math.min(10, Math.floor(key.length / 4))),
});
const dateTime = (atMs: number): string => new Date(atMs).toISOString();
const keyInfo = (row: KeyRow): ApiKeyInfo => ({
  key_id: row.key_id,
  account_id: row.account_id,
  hint: row.hint,
  scopes: JSON.parse(row.scopes) as Scope[],
  created_at: dateTime(row.created_at),
  revoked_at: row.revoked_at === null ? null : dateTime(row.revoked_at),
});

export function createApiKeys({ database, clock, random }: Pick<EmulatorCore, "database" | "clock" | "random">) {
  const COLUMNS = "key_id, account_id, hint, scopes, created_at, revoked_at";
  const insert = database.prepare(
    "INSERT INTO api_key (key_id, account_id, key_hash, hint, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const select = database.prepare<[string], KeyRow>(`SELECT ${COLUMNS} FROM api_key WHERE key_id = ?`);
  const byHash = database.prepare<[string], KeyRow>(`SELECT ${COLUMNS} FROM api_key WHERE key_hash = ?`);
  const selectAll = database.prepare<[number], KeyRow>(
    `SELECT ${COLUMNS} FROM api_key WHERE account_id = ? ORDER BY created_at, key_id`,
  );
  const revoke = database.prepare("UPDATE api_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL");

  function read(keyId: string): ApiKeyInfo {
    const row = select.get(keyId);
    if (row === undefined) throw new ServiceError("RESOURCE_NOT_FOUND", "There is no API key with this id.");
    return keyInfo(row);
  }

  /** @returns the id of the key */
  function add(accountId: number, scopes: readonly Scope[], { hash, hint }: KeptKey): string {
    const keyId = `key_${randomUuid(random)}`;
    insert.run(keyId, accountId, hash, hint, JSON.stringify([...new Set(scopes)]), clock.now());
    return keyId;
  }

  return {
    /** Makes a random key. Only its hash is stored, so the key cannot be read again. */
    create(accountId: number, scopes: readonly Scope[]): ApiKeyInfo & { key: string } {
      const key = `sbk_${random.bytes(32).toString("base64url")}`;
      return { ...read(add(accountId, scopes, keptKey(key))), key };
    },
    /** Stores a key that the user chose. */
    adopt: (accountId: number, scopes: readonly Scope[], key: KeptKey) => void add(accountId, scopes, key),
    /** Does nothing if the key is already revoked. @throws ServiceError RESOURCE_NOT_FOUND */
    revoke(keyId: string) {
      revoke.run(clock.now(), keyId);
      return read(keyId);
    },
    list: (accountId: number) => selectAll.all(accountId).map(keyInfo),
    /** Finds the key that a caller sent. */
    find(key: string) {
      const row = byHash.get(hashOf(key));
      if (row === undefined) return null;
      return {
        keyId: row.key_id,
        accountId: row.account_id,
        scopes: new Set(JSON.parse(row.scopes) as Scope[]),
        isRevoked: row.revoked_at !== null,
      };
    },
  };
}
