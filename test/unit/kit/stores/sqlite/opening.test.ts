import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test, vi } from "vitest";
import { openSqlite } from "../../../../open-sqlite.js";
import { DAY_MS } from "../../../../../src/base/time/units.js";
import { EVENT_STATES } from "../../../../../src/kit/inbox/stored-events.js";
import { lockOwner } from "../../../../../src/kit/stores/sqlite/disk/owner-lock.js";
import { processWide } from "../../../../../src/base/process-wide.js";
import type { Database, SqliteDriver } from "../../../../../src/base/sqlite/database.js";
import {
  chooseDriver,
  isOlder,
  loadDriver,
  refuseCrash,
} from "../../../../../src/base/sqlite/sqlite-driver.js";
import { postgresStore } from "../../../../../src/kit/stores/postgres/postgres-store.js";
import { refuseNetworkFileSystem } from "../../../../../src/kit/stores/sqlite/disk/inbox-files.js";
import { MIGRATIONS } from "../../../../../src/kit/stores/sqlite/tables.js";
import { sqliteStore } from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
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
  "e3b0c44298fc1c14",
  "0e3074e06014285e",
  "1105dd646bcf1dd5",
  "319fb39ffd2b893e",
  "090b0c5999ee9453",
  "7060ed8045f04710",
];

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

/** Opens a file without the store. */
function edit<Result>(path: string, change: (db: Database) => Result): Result {
  const db = openSqlite(path);
  try {
    return change(db);
  } finally {
    db.close();
  }
}

test.each([
  ["the first version", 1, "", "headers", { subtype: null, subject: null }],
  ["other senders", 6, ", signal_type, product", "received", { subtype: "drop", subject: "acme" }],
] as const)(
  "an inbox of before %s opens with its facts, hands its events out and knows them",
  async (_what, version, columns, received, facts) => {
    const event = newEvent(facts);
    const path = inboxPath();
    const values = columns === "" ? "" : `, '${facts.subtype}', '${facts.subject}'`;
    edit(path, (db) => {
      db.exec(`${MIGRATIONS.slice(0, version).join("")}
        PRAGMA user_version = ${version}; PRAGMA application_id = 1936155256`);
      db.prepare(
        `INSERT INTO inbox (endpoint, event_id, type, state, due_at, token, received_at, body_hash${columns})
         VALUES ('default', ?, 'signal.published', 'ready', 1, 0, ?, ?${values})`,
      ).run(event.eventId, event.received.at, event.bodyHash);
      db.prepare(
        `INSERT INTO inbox_body (seq, ${received}, body) VALUES (1, '{"user-agent":"old"}', ?)`,
      ).run(event.body);
    });
    const older = await rejectionOf(openStore({ path, operator: true }));
    expect([older.code, older.help.includes("Start its receiver")]).toEqual([
      "store_unsupported",
      true,
    ]);

    const store = await openStore(path);
    const { claim, accepts } = await store.commit(batchOf({ claim: claimOf(), accepts: [event] }));
    expect(claim?.events.map(({ eventId }) => eventId)).toEqual([event.eventId]);
    expect(accepts).toMatchObject([{ status: "duplicate", sameBody: true, otherThan: null }]);
    expect(
      (await store.search("default", facts.subtype === null ? {} : facts)).entries,
    ).toMatchObject([{ ...facts, sender: "signals" }]);
    expect((await store.get("default", event.eventId))?.received).toEqual({
      at: event.received.at,
      headers: { "user-agent": "old" },
    });
  },
);

const DONE_INDEXES = ["inbox_done_key", "inbox_done_payload"];
const doneIndexesOf = (path: string): unknown =>
  edit(path, (db) =>
    db
      .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'inbox_done%' ORDER BY name")
      .pluck()
      .all(),
  );

/** An inbox of version 0.2.0 with an old event of each kind. */
function oldInbox(path: string): void {
  edit(path, (db) => {
    db.exec(`${MIGRATIONS.slice(0, 8).join("")}
      PRAGMA user_version = 8; PRAGMA application_id = 1936155256`);
    const add = db.prepare(
      `INSERT INTO inbox (endpoint, event_id, type, state, due_at, token, received_at, body_hash, has_payload)
       VALUES ('default', ?, '', ?, 1, 1, 1, x'00', ?)`,
    );
    for (const state of EVENT_STATES) add.run(`evt_${state}`, state, 1);
    add.run("evt_key", "done", 0);
    add.run("evt_last", "ready", 1);
    db.exec("INSERT INTO inbox_body SELECT seq, '', x'' FROM inbox WHERE has_payload = 1");
  });
}

test.each([true, false])(
  "an older inbox loses the indexes of done events, which are pruned without (shared: %s)",
  async (shared) => {
    const path = inboxPath();
    oldInbox(path);
    const store = await openStore({ path, shared });
    expect(doneIndexesOf(path)).toEqual([]);
    expect(await store.stats("default")).toMatchObject({ done: 2, leased: 1, ready: 2, total: 7 });
    const ages = { payloadsOlderThanMs: DAY_MS, keysOlderThanMs: DAY_MS };
    const pruned = await store.prune({ endpoint: "default", ...ages, limit: 500 });
    expect(pruned).toMatchObject({ payloads: 1, keys: 2 });
  },
);

test("beside a process of an older version its indexes stay, and a later start drops them", async () => {
  const path = inboxPath();
  oldInbox(path);
  const end = lockOwner(loadDriver(), path, true);
  const beside = await openStore({ path, shared: true });
  expect(doneIndexesOf(path)).toEqual(DONE_INDEXES);
  expect(await beside.stats("default")).toMatchObject({ done: 2, total: 7 });
  end();
  await beside.close("default");
  await openStore({ path, shared: true });
  expect(doneIndexesOf(path)).toEqual([]);
});

test("two copies of this package in a process do not both own an inbox, and use one SQLite", async () => {
  const path = inboxPath();
  await openStore(path);
  vi.resetModules();
  const other = await import("../../../../../src/kit/stores/sqlite/disk/owner-lock.js");
  expect(errorOf(() => other.refuseOwnedHere(path)).code).toBe("store_in_use");
  const driver = await import("../../../../../src/base/sqlite/sqlite-driver.js");
  expect(driver.loadDriver).not.toBe(loadDriver);
  expect(driver.loadDriver().name).toBe(loadDriver().name);
  const used = processWide("signalbox.sqlite", (): { name?: string } => ({}));
  expect(used.name).toBe(loadDriver().name);
});

test("a tool drops no index", async () => {
  const path = inboxPath();
  await (await openStore(path)).close("default");
  edit(path, (db) => db.exec("CREATE INDEX inbox_done_key ON inbox (endpoint)"));
  await openStore({ path, operator: true });
  expect(doneIndexesOf(path)).toEqual(["inbox_done_key"]);
});

test("a file of a newer release is refused, and is as it was", async () => {
  const path = inboxPath();
  await (await openStore(path)).close("default");
  const setVersion = (version: number): void =>
    edit(path, (db) => void db.pragma(`user_version = ${version}`));
  setVersion(MIGRATIONS.length + 1);
  const error = await rejectionOf(openStore(path));
  expect([error.code, error.help.includes("Upgrade")]).toEqual(["store_newer", true]);
  setVersion(MIGRATIONS.length);
  await openStore(path);
});

test.each(['{"at":1,', "null"])(
  "an event whose headers are damaged (%s) is handed off all the same",
  async (received) => {
    const path = inboxPath();
    const store = await openStore(path);
    const event = newEvent();
    await accept(store, event);
    edit(path, (db) => db.prepare("UPDATE inbox_body SET received = ?").run(received));
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
    edit(path, (db) => db.exec(`DROP TABLE ${table}`));
    const error = await rejectionOf(openStore(path));
    expect([error.code, error.message.includes(table)]).toEqual(["store_corrupt", true]);
  },
);

test("a file of text is refused with the advice to check the path, and kept, and nothing is written beside it", async () => {
  const path = inboxPath();
  const text = "this is no database, it is a letter to the reader. ".repeat(100);
  writeFileSync(path, text);
  const error = await rejectionOf(openStore(path));
  expect([error.code, error.help.includes("Check the path")]).toEqual(["store_corrupt", true]);
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(readdirSync(dirname(path))).toEqual([basename(path)]);
});

test("a file of zeros, as a loss of power at its first write leaves it beside its journal, becomes an inbox", async () => {
  const made = inboxPath();
  const writer = openSqlite(made);
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
  // As a crash leaves it: with a WAL that no checkpoint has copied.
  const crashed = inboxPath();
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, crashed + suffix);
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
    edit(path, (db) => db.exec("CREATE TABLE people (name TEXT)"));
    const before = readFileSync(path);
    expect((await rejectionOf(openStore({ path, operator }))).code).toBe("store_unsupported");
    // The switch to WAL alone would change the header.
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test.each([
  [
    "an empty file",
    "store_unsupported",
    { operator: true },
    (path: string): void => writeFileSync(path, ""),
  ],
  ["a folder", "store_failed", {}, (path: string): void => mkdirSync(path)],
  ["a missing file", "store_failed", { operator: true }, (): void => {}],
  [
    "a missing file in a missing folder",
    "store_failed",
    { operator: true },
    (path: string): void => rmdirSync(dirname(path)),
  ],
] as const)(
  "in the place of the inbox is %s: refused, and nothing is made",
  async (_what, code, role, make) => {
    const path = join(mkdtempSync(join(tempFolder(), "made-")), "inbox.db");
    make(path);
    const before = existsSync(dirname(path)) && readdirSync(dirname(path));
    expect((await rejectionOf(openStore({ path, ...role }))).code).toBe(code);
    expect(existsSync(dirname(path)) && readdirSync(dirname(path))).toEqual(before);
  },
);

test("a folder on a network file system is refused, and one on a local disk is taken", () => {
  for (const [name, type] of [
    ["NFS", 0x6969],
    ["CIFS", 0xff534d42],
    ["Ceph", 0x00c36400],
  ] as const) {
    const error = errorOf(() => refuseNetworkFileSystem("/srv/inbox", type));
    expect([error.code, error.message.includes(name)]).toEqual(["store_unsupported", true]);
  }
  refuseNetworkFileSystem("/srv/inbox", 0xef53);
  refuseNetworkFileSystem(tempFolder());
});

test("better-sqlite3 is refused on a Node that it would crash", () => {
  for (const [driver, node, instead] of [
    ["13.2.0", "21.7.3", "better-sqlite3@12.9.0 "],
    ["12.9.0", "24.0.0", "better-sqlite3@13 "],
  ] as const) {
    const error = errorOf(() => refuseCrash(driver, node));
    expect([error.code, error.help.includes(instead)]).toEqual(["store_unsupported", true]);
  }
  refuseCrash("12.9.0", "22.23.3");
  refuseCrash("13.2.0", "22.0.0");
});

/** A driver with this SQLite. */
function driverOf(name: SqliteDriver["name"], version: string): SqliteDriver {
  const open: SqliteDriver["open"] = (...args) => {
    const db = openSqlite(...args);
    vi.spyOn(db, "prepare").mockReturnValue(db.prepare(`SELECT '${version}'`));
    return db;
  };
  return { name, open };
}

test("the SQLite of Node is used where better-sqlite3 is not there, and none before 3.51.3", () => {
  const better = driverOf("better-sqlite3", "3.53.0");
  const nodes = driverOf("node:sqlite", "3.51.3");
  const older = driverOf("node:sqlite", "3.51.2");
  const uncompiled = new Error(
    "Could not locate the bindings file. Tried:\n → build/better_sqlite3",
  );
  const foreign = Object.assign(new Error("was compiled against"), { code: "ERR_DLOPEN_FAILED" });
  const broken = (cause: Error): SqliteDriver => ({
    name: "better-sqlite3",
    open() {
      throw cause;
    },
  });
  expect(
    chooseDriver(
      () => better,
      () => nodes,
    ).name,
  ).toBe("better-sqlite3");
  expect(
    chooseDriver(
      () => driverOf("better-sqlite3", "3.50.4"),
      () => nodes,
    ).name,
  ).toBe("node:sqlite");
  for (const cause of [uncompiled, foreign]) {
    expect(
      chooseDriver(
        () => broken(cause),
        () => nodes,
      ).name,
    ).toBe("node:sqlite");
    for (const none of [undefined, older]) {
      const error = errorOf(() =>
        chooseDriver(
          () => broken(cause),
          () => none,
        ),
      );
      expect([error.code, error.cause]).toEqual(["store_unsupported", cause]);
      expect(error.help).toContain("npm rebuild better-sqlite3");
    }
  }
  expect(isOlder("3.51.2") && isOlder("3.51") && isOlder("3.9.10") && isOlder("2.99.99")).toBe(
    true,
  );
  expect(isOlder("3.51.3") || isOlder("3.51.10") || isOlder("3.52.0") || isOlder("4.0.0")).toBe(
    false,
  );
});

test("a migration that has landed is not edited", () => {
  const hashes = MIGRATIONS.map((sql) =>
    createHash("sha256").update(sql).digest("hex").slice(0, 16),
  );
  expect(
    hashes,
    "Files that have this version would not get the change: append a migration, and then its hash here.",
  ).toEqual(LANDED);
});
