/** Tasks of all accounts. A finished one keeps its report, so that it never changes. Times are in ms since 1970. */
export const INVESTIGATION_SCHEMA = `
CREATE TABLE investigation (
  task_id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  slug TEXT NOT NULL,
  locale TEXT NOT NULL,
  status TEXT NOT NULL,
  stage TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  -- When it goes on to the next stage; null for what is finished.
  due_at INTEGER,
  error_code TEXT,
  error_message TEXT,
  report TEXT,
  UNIQUE (account_id, idempotency_key)
) STRICT;
CREATE INDEX investigation_by_due ON investigation (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX investigation_by_account ON investigation (account_id, created_at);
`;
