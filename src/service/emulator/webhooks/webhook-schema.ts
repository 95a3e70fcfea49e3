/**
 * The tables of follows, registrations, signals and deliveries. Times are in milliseconds since
 * 1970.
 */
export const WEBHOOK_SCHEMA = [
  `CREATE TABLE follow (
  account_id INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  followed_at INTEGER NOT NULL,
  PRIMARY KEY (tool_id, account_id)
) STRICT, WITHOUT ROWID;`,
  // `secret`: not hashed, because deliveries are signed with it.
  `CREATE TABLE registration (
  registration_id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL,
  url TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'pending' OR status = 'active' OR status = 'paused' OR status = 'deleted'),
  locale TEXT NOT NULL,
  signal_types TEXT NOT NULL,
  failure_count INTEGER NOT NULL,
  secret TEXT NOT NULL,
  challenge TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX registration_by_account ON registration (account_id, created_at);`,
  `CREATE TABLE signal (
  signal_id INTEGER PRIMARY KEY,
  signal_type TEXT NOT NULL,
  tool_id INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  draft TEXT NOT NULL
) STRICT;`,
  // The signals that were sent to an account, for its limit in a rolling 24 hours.
  `CREATE TABLE account_signal (
  account_id INTEGER NOT NULL,
  signal_id INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, signal_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_signal_by_time ON account_signal (account_id, sent_at);`,
  // The bytes of an event: the same in each attempt and for each registration of a language.
  `CREATE TABLE event (
  event_id TEXT NOT NULL,
  locale TEXT NOT NULL,
  type TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (event_id, locale)
) STRICT;`,
  // An event for one registration.
  // `expires_at`: after this moment the delivery is not sent.
  // `redelivery_of`: the delivery that this one repeats; null for a delivery that the service
  // made.
  `CREATE TABLE delivery (
  delivery_id INTEGER PRIMARY KEY,
  registration_id TEXT NOT NULL REFERENCES registration,
  event_id TEXT NOT NULL,
  locale TEXT NOT NULL,
  event_type TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state = 'waiting' OR state = 'sending' OR state = 'delivered' OR state = 'failed'
    OR state = 'expired' OR state = 'cancelled'),
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  redelivery_of INTEGER
) STRICT;
CREATE INDEX delivery_waiting ON delivery (registration_id, due_at) WHERE state = 'waiting';
CREATE INDEX delivery_expiring ON delivery (expires_at) WHERE state = 'waiting';
CREATE INDEX delivery_by_registration ON delivery (registration_id);
CREATE INDEX delivery_by_event ON delivery (event_id);`,
  // The number of deliveries in each state, kept by triggers, because counting would read all
  // deliveries.
  `CREATE TABLE delivery_count (
  state TEXT PRIMARY KEY,
  deliveries INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER delivery_added AFTER INSERT ON delivery BEGIN
  INSERT INTO delivery_count VALUES (NEW.state, 1) ON CONFLICT (state) DO UPDATE SET deliveries = deliveries + 1;
END;
CREATE TRIGGER delivery_changed AFTER UPDATE OF state ON delivery WHEN NEW.state <> OLD.state BEGIN
  UPDATE delivery_count SET deliveries = deliveries - 1 WHERE state = OLD.state;
  INSERT INTO delivery_count VALUES (NEW.state, 1) ON CONFLICT (state) DO UPDATE SET deliveries = deliveries + 1;
END;`,
  // One request with its answer.
  // `started_at`: by the emulator's clock.
  // `sent_at`: the same moment, by the machine's clock.
  // `status`: null when there was no answer; failure has the reason.
  // `answer_body`: the first 16 KiB.
  // `faults`: the faults that were applied, a JSON array.
  `CREATE TABLE attempt (
  attempt_id INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES delivery,
  started_at INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  request_headers TEXT NOT NULL,
  status INTEGER,
  failure TEXT,
  answer_headers TEXT,
  answer_body BLOB,
  faults TEXT NOT NULL
) STRICT;
CREATE INDEX attempt_by_delivery ON attempt (delivery_id);`,
  // Faults that the control API set for the deliveries to a registration.
  // `value`: a status, or milliseconds.
  // `remaining`: to how many more requests the fault is applied; null: to all.
  `CREATE TABLE webhook_fault (
  registration_id TEXT NOT NULL REFERENCES registration,
  kind TEXT NOT NULL,
  value INTEGER,
  remaining INTEGER,
  PRIMARY KEY (registration_id, kind)
) STRICT, WITHOUT ROWID;`,
].join("\n");
