/** The tables of accounts, keys and quotas. Times are milliseconds since 1970. */
export const ACCESS_SCHEMA = `
CREATE TABLE account (
  account_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  tier TEXT NOT NULL,
  entitlements TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- The key itself is shown once and not stored. It has 256 random bits, so a fast hash is enough.
CREATE TABLE api_key (
  key_id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account,
  key_hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  -- Null for a key: only the session tokens of the website expire.
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_by_account ON api_key (account_id);

-- The counted calls of an account in a month (a MonthIndex).
CREATE TABLE quota_use (
  account_id INTEGER NOT NULL REFERENCES account,
  month INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;
`;
