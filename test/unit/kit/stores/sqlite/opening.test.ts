import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { checkSqliteVersion, loadDriver } from "../../../../../src/base/sqlite/sqlite-driver.js";
import { postgresStore } from "../../../../../src/kit/stores/postgres/postgres-store.js";
import { refuseNetworkFileSystem } from "../../../../../src/kit/stores/sqlite/inbox-files.js";
import { openDatabase } from "../../../../../src/kit/stores/sqlite/open-database.js";
import { MIGRATIONS } from "../../../../../src/kit/stores/sqlite/schema.js";
import { sqliteStore } from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { storeError } from "../../../../../src/kit/stores/sqlite/store-error.js";
import { errorOf, rejectionOf } from "../../../signalbox-error-of.js";
import { tempFolder } from "../../../temp-folder.js";
import { batchOf, claimOf, newEvent } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore } from "./open-store.js";

/** For each version the hash of its migration. */
const LANDED = [
  "cacf931f53604f83",
  "e46951b9be3fb391",
  "389602f8979a3314",
  "bad002f27c29ac06",
  "e2d7e66c8b62c254",
  "dc4030dee14b63e9",
  "3f720318ee49db77",
  "e49ec9cb1ed54cc1",
];

/** As a crash leaves it: with a WAL that no checkpoint has copied. */
function crashedCopy(path: string): string {
  const crashed = inboxPath();
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, crashed + suffix);
  return crashed;
}

test("nothing is opened before start", () => {
  const path = inboxPath();
  sqliteStore(path);
  expect(existsSync(path)).toBe(false);
});

test.each([
  ["null", null],
  ["an empty path", ""],
  ["memory", ":memory:"],
  ["the address of a database", "postgres://localhost/signals"],
  ["a URI", "file:signals.db"],
  ["the URL of a page", new URL("https://example.com/signals.db")],
  ["the URL of a file of another machine", new URL("file://host/signals.db")],
  ["options without a path", {}],
])("%s is refused as the path of a file", (_what, options) => {
  expect(errorOf(() => sqliteStore(options as never)).code).toBe("option_invalid");
});

test("a file URL names the file", async () => {
  const path = inboxPath();
  await (await openStore(pathToFileURL(path))).close("default");
  expect(existsSync(path)).toBe(true);
});

test.each(["postgres://a:5432,b:5432/app", "postgresql://user:p,w@a,b/app"])(
  "a connection string with several hosts is refused with the advice to name one: %s",
  (connectionString) => {
    expect(errorOf(() => postgresStore(connectionString)).message).toContain("expected one host");
    expect(() => postgresStore("postgres://user:p,w@a/app?x=1,2")).not.toThrow();
  },
);

test.each([
  [sqliteStore, "signals.db", { shared: true }],
  [postgresStore, "postgres://localhost/app", { schema: "signals" }],
] as const)(
  "options behind the path or the address of a store are refused: they would have no effect",
  (store, ...given) => {
    const make = (): unknown => Reflect.apply(store as () => unknown, undefined, given);
    expect(errorOf(make).message).toMatch(/expected one argument, such as \{ /);
  },
);

test.each([
  ["owner", 0],
  ["shared", 0],
  ["operator", 5000],
] as const)(
  "the file is in WAL mode and synced around checkpoints; SQLite waits for others as a %s %d ms",
  (role, waits) => {
    const path = inboxPath();
    openDatabase(path, "owner").release({ keepWal: false });
    const { db, release } = openDatabase(path, role);
    const pragma = (name: string): unknown => db.pragma(name, { simple: true });
    expect([pragma("journal_mode"), pragma("synchronous"), pragma("busy_timeout")]).toEqual([
      "wal",
      1,
      waits,
    ]);
    release({ keepWal: false });
  },
);

test("a file of a newer release is refused, and is as it was", async () => {
  const path = inboxPath();
  await (await openStore(path)).close("default");
  const version = setUserVersion(path, 0);
  setUserVersion(path, version + 1);
  const error = await rejectionOf(openStore(path));
  expect(error.code).toBe("store_newer");
  expect(error.help).toContain("Upgrade");
  setUserVersion(path, version);
  await openStore(path);
});

test("an inbox of the first schema is brought up to date, and its events are handed out", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  const event = newEvent();
  await store.commit(batchOf({ accepts: [event] }));
  await store.close("default");
  const db = new Database(path);
  db.exec(`DROP INDEX inbox_ready; CREATE INDEX inbox_ready ON inbox (endpoint, due_at) WHERE state = 'ready' AND crashes < 2;
    CREATE INDEX inbox_suspect ON inbox (endpoint, due_at) WHERE state = 'ready' AND crashes >= 2;
    DROP INDEX inbox_failing; DROP TABLE inbox_report; DROP TABLE inbox_history; DROP TABLE inbox_minute;
    DROP INDEX inbox_content; ALTER TABLE inbox DROP COLUMN content_key; ALTER TABLE inbox DROP COLUMN sender;
    ALTER TABLE inbox DROP COLUMN subtype; ALTER TABLE inbox DROP COLUMN subject;
    DROP INDEX inbox_ready_since; ALTER TABLE inbox DROP COLUMN ready_since;
    ALTER TABLE inbox_body RENAME COLUMN received TO headers; UPDATE inbox_body SET headers = '{"user-agent":"old"}';
    PRAGMA user_version = 1`);
  db.close();

  const upgraded = await openStore(path);
  const result = await upgraded.commit(batchOf({ claim: claimOf() }));
  expect(result.claim?.events.map(({ eventId }) => eventId)).toEqual([event.eventId]);
  const { received } = (await upgraded.get("default", event.eventId))!;
  expect(received).toEqual({ at: event.received.at, headers: { "user-agent": "old" } });
});

test("an inbox of the version before other senders opens with its facts, and knows its events", async () => {
  const path = inboxPath();
  const event = newEvent({ subtype: "price_drop", subject: "acme" });
  const db = new Database(path);
  db.exec(MIGRATIONS.slice(0, 6).join(""));
  db.pragma("user_version = 6");
  db.pragma("application_id = 1936155256");
  db.prepare(
    `INSERT INTO inbox (endpoint, event_id, type, state, due_at, token, received_at, body_hash, signal_type, product)
     VALUES ('default', ?, 'signal.published', 'done', 1, 0, ?, ?, 'price_drop', 'acme')`,
  ).run(event.eventId, event.received.at, event.bodyHash);
  db.prepare("INSERT INTO inbox_body (seq, received, body) VALUES (1, '{}', ?)").run(event.body);
  db.close();

  const store = await openStore(path);
  const facts = { subtype: "price_drop", subject: "acme", sender: "signals" };
  expect(await store.get("default", event.eventId)).toMatchObject(facts);
  expect(
    (await store.search("default", { subtype: "price_drop", subject: "acme" })).entries,
  ).toMatchObject([facts]);
  expect((await accept(store, event)).accepts).toMatchObject([
    { status: "duplicate", seq: 1, sameBody: true, otherThan: null },
  ]);
});

test.each(['{"at":1,', "null"])(
  "an event whose headers are damaged (%s) is handed off all the same",
  async (received) => {
    const path = inboxPath();
    const store = await openStore(path);
    const event = newEvent();
    await accept(store, event);
    const db = new Database(path);
    db.prepare("UPDATE inbox_body SET received = ?").run(received);
    db.close();
    const result = await store.commit(batchOf({ claim: claimOf() }));
    expect(result.claim?.events.map(({ body }) => Buffer.from(body))).toEqual([event.body]);
    expect((await store.get("default", event.eventId))?.received).toEqual({
      at: event.received.at,
      headers: {},
    });
  },
);

test.each(["inbox", "inbox_body", "inbox_history", "inbox_minute"])(
  "an inbox without its table %s is refused as damaged",
  async (table) => {
    const path = inboxPath();
    await (await openStore(path)).close("default");
    const db = new Database(path);
    db.exec(`DROP TABLE ${table}`);
    db.close();
    for (const role of [{}, { shared: true }, { operator: true }]) {
      const error = await rejectionOf(openStore({ path, ...role }));
      expect([error.code, error.message.includes(table)]).toEqual(["store_corrupt", true]);
    }
  },
);

test.each([
  ["text", Buffer.from("this is no database, it is a letter to the reader. ".repeat(100))],
  ["noise", Buffer.from(Array.from({ length: 8192 }, (_, index) => (index * 7919) % 251))],
])(
  "a file of %s is refused with the advice to check the path, and kept, and nothing is written beside it",
  async (_what, bytes) => {
    const path = inboxPath();
    writeFileSync(path, bytes);
    const error = await rejectionOf(openStore(path));
    expect([error.code, error.help.includes("Check the path")]).toEqual(["store_corrupt", true]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  },
);

test("a file of zeros, as a loss of power at its first write leaves it beside its journal, becomes an inbox", async () => {
  const made = inboxPath();
  const writer = new Database(made);
  // More than the cache holds, so that the journal is written before the commit.
  writer.exec(
    "PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))",
  );
  const path = inboxPath();
  copyFileSync(`${made}-journal`, `${path}-journal`);
  writer.close();
  writeFileSync(path, Buffer.alloc(8192));
  await accept(await openStore(path), newEvent());
  expect(existsSync(`${path}-journal`)).toBe(false);
});

test("what a dead process left in the WAL is written into the database before anything is answered", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await accept(store, newEvent(), newEvent());
  const crashed = crashedCopy(path);
  const next = await openStore(crashed);
  expect((await next.list({})).length).toBe(2);
  // The file alone, without the WAL that stands beside it.
  const alone = join(tempFolder(), "inbox.db");
  copyFileSync(crashed, alone);
  expect((await (await openStore(alone)).list({})).length).toBe(2);
});

test.each([false, true])(
  "a database of something else is refused and left as it is (operator: %j)",
  async (operator) => {
    const path = inboxPath();
    const foreign = new Database(path);
    foreign.exec("CREATE TABLE people (name TEXT)");
    foreign.close();
    const before = readFileSync(path);
    expect((await rejectionOf(openStore({ path, operator }))).code).toBe("store_unsupported");
    // The switch to WAL alone would change the header.
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test("a tool makes no inbox of an empty file", async () => {
  const path = inboxPath();
  writeFileSync(path, "");
  expect((await rejectionOf(openStore({ path, operator: true }))).code).toBe("store_unsupported");
  expect(readFileSync(path).byteLength).toBe(0);
});

test("a tool does not upgrade an older inbox under its receiver", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await store.close("default");
  const older = new Database(path);
  older.pragma("user_version = 0");
  older.close();
  const error = await rejectionOf(openStore({ path, operator: true }));
  expect([error.code, error.help.includes("Start its receiver")]).toEqual([
    "store_unsupported",
    true,
  ]);
});

test("an owner that was refused leaves no journal of its lock behind", async () => {
  const path = inboxPath();
  await openStore(path);
  expect((await rejectionOf(openStore(path))).code).toBe("store_in_use");
  expect(existsSync(`${path}-owner-journal`)).toBe(false);
});

test("a tool finds no inbox where there is none, and makes none", async () => {
  const folder = tempFolder();
  for (const path of [join(folder, "inbox.db"), join(folder, "missing", "inbox.db")]) {
    expect((await rejectionOf(openStore({ path, operator: true }))).code).toBe("store_failed");
    expect(existsSync(path)).toBe(false);
  }
  expect(existsSync(join(folder, "missing"))).toBe(false);
});

test("a folder in the place of the file is refused", async () => {
  const path = inboxPath();
  mkdirSync(path);
  expect((await rejectionOf(openStore(path))).code).toBe("store_failed");
});

test.each([
  ["NFS", 0x6969],
  ["CIFS", 0xff534d42],
  ["SMB", 0xfe534d42],
  ["SMB", 0x517b],
  ["9P", 0x01021997],
  ["Ceph", 0x00c36400],
])("a folder on %s is refused", (name, type) => {
  const error = errorOf(() => refuseNetworkFileSystem("/srv/inbox", type));
  expect(error.code).toBe("store_unsupported");
  expect(error.message).toContain(name);
});

test("local file systems are taken", () => {
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]) {
    refuseNetworkFileSystem("/srv/inbox", type);
  }
  refuseNetworkFileSystem(tempFolder());
});

test("better-sqlite3 is refused on a Node that it would crash", () => {
  for (const [driver, node, instead] of [
    ["13.2.0", "20.20.0", "better-sqlite3@12"],
    ["13.2.0", "21.7.3", "better-sqlite3@12"],
    ["12.11.1", "24.0.0", "better-sqlite3@13"],
    ["12.11.1", "26.10.0", "better-sqlite3@13"],
  ] as const) {
    const error = errorOf(() => loadDriver({ driver, node }));
    expect([error.code, error.help.includes(instead)]).toEqual(["store_unsupported", true]);
  }
  for (const [driver, node] of [
    ["12.11.1", "20.20.0"],
    ["12.11.1", "22.23.3"],
    ["13.2.0", "24.21.0"],
    ["13.2.0", "22.0.0"],
  ] as const) {
    expect(loadDriver({ driver, node })).toBeTypeOf("function");
  }
});

test("a driver without its binary, or with that of another Node, is no failure of the disk", () => {
  const uncompiled = new Error(
    "Could not locate the bindings file. Tried:\n → build/better_sqlite3.node",
  );
  const foreign = Object.assign(new Error("was compiled against"), { code: "ERR_DLOPEN_FAILED" });
  const absent = Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" });
  for (const cause of [uncompiled, foreign, absent]) {
    const error = storeError(cause, "inbox.db");
    expect([error.code, error.help.includes("npm rebuild better-sqlite3")]).toEqual([
      "store_unsupported",
      true,
    ]);
    expect(error.cause).toBe(cause);
  }
  expect(storeError(new Error("Could not"), "inbox.db").code).toBe("store_failed");
});

test("an SQLite before 3.51.3 is refused", () => {
  for (const version of ["3.51.2", "3.51", "3.50.99", "3.9.10", "2.99.99"]) {
    expect(errorOf(() => checkSqliteVersion(version)).code, version).toBe("store_unsupported");
  }
  for (const version of ["3.51.3", "3.51.10", "3.52.0", "4.0.0"]) checkSqliteVersion(version);
});

/** @returns the one before */
function setUserVersion(path: string, version: number): number {
  const db = new Database(path);
  const before = db.pragma("user_version", { simple: true }) as number;
  db.pragma(`user_version = ${version}`);
  db.close();
  return before;
}

test("a migration that has landed is not edited", () => {
  const hashes = MIGRATIONS.map((sql) =>
    createHash("sha256").update(sql).digest("hex").slice(0, 16),
  );
  expect(
    hashes,
    "Files that have this version would not get the change: append a migration, and then its hash here.",
  ).toEqual(LANDED);
});
