import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SignalboxError } from "../../../../src/base/errors.js";
import { openSqlite } from "../../../open-sqlite.js";
import type { Database } from "../../../../src/base/sqlite/database.js";
import type { Surroundings } from "../../../../src/cli/probe/doctor/examination.js";
import { fillInbox } from "../../fill-inbox.js";
import { expectGolden } from "../../golden.js";
import { tempFile, tempFiles } from "../../temp-files.js";
import { examine, paragraphOf } from "./examine.js";

/** A file of SQLite that is held open, after this was run on it. */
function opened(path: string, sql: string): Database {
  const db = openSqlite(path);
  onTestFinished(() => void db.close());
  db.exec(sql);
  return db;
}

function changed(path: string, sql: string): string {
  opened(path, sql).close();
  return path;
}

/** An inbox after this happened to its file. */
async function after(happen: (path: string) => void): Promise<string> {
  const path = await fillInbox([{ eventId: "evt_1", body: "x".repeat(200_000) }]);
  happen(path);
  return path;
}

const withoutDriver = (): never => {
  throw new SignalboxError("store_unsupported", "better-sqlite3 has no binary.", "Rebuild it.");
};

type Case = readonly [
  title: string,
  path: () => string | Promise<string>,
  surroundings?: Partial<Surroundings>,
];

const CASES: readonly Case[] = [
  ["an inbox that nobody has open", () => fillInbox([{ eventId: "evt_1" }])],
  ["a file that may not be written", () => fillInbox([]), { isWritable: () => false }],
  ["a folder", () => fillInbox([]), { isWritable: (path) => path.endsWith(".db") }],
  ["a driver that does not load", () => fillInbox([]), { tryDriver: withoutDriver }],
  ["no file", () => join(tempFiles(), "none.db")],
  ["a folder in its place", () => tempFiles()],
  ["a letter", () => tempFile("a letter to the reader", "letter.db")],
  ["another database", () => changed(tempFile("", "theirs.db"), "CREATE TABLE customers (name)")],
  ["a newer inbox", async () => changed(await fillInbox([]), "PRAGMA user_version = 99")],
  [
    "a path that leads in a circle",
    () => {
      const circle = join(tempFiles(), "circle.db");
      symlinkSync(circle, circle);
      return circle;
    },
  ],
  [
    "a lock that cannot be looked at",
    () =>
      after((path) => {
        rmSync(`${path}-owner`, { force: true });
        mkdirSync(`${path}-owner`);
      }),
  ],
  [
    "damage",
    () => after((path) => writeFileSync(path, readFileSync(path).fill(0x5a, 4096, 12_288))),
  ],
  [
    "a log whose end is missing",
    () =>
      after((path) => {
        opened(path, "CREATE TABLE other (text); INSERT INTO other VALUES (printf('%9000s', ''))");
        // A header and one frame.
        truncateSync(`${path}-wal`, 32 + 24 + 4096);
      }),
  ],
  ["too large to be checked", () => after((path) => truncateSync(path, 257 * 2 ** 20))],
  [
    "held by another program",
    () => after((path) => opened(path, "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")),
  ],
  [
    "events that were given up, wait for too long, or cannot be read",
    () =>
      fillInbox([
        { eventId: "evt_1", state: "dead" },
        { eventId: "evt_2", state: "ready", ageDays: 1 },
        { eventId: "evt_3", state: "quarantined", reason: "not_json" },
      ]),
  ],
];

test("what doctor finds of an inbox in a file", async () => {
  let text = "";
  for (const [title, path, surroundings = {}] of CASES) {
    const db = await path();
    const examined = await examine(null, { db, surroundings });
    const skipped = examined.skipped.filter((id) => id.startsWith("inbox-"));
    text += paragraphOf(title, { ...examined, skipped });
    expect(existsSync(db)).toBe(!/none|circle/.test(db));
  }
  await expectGolden("doctor-inbox", text, [
    [/Node [\d.]+ on [\w-]+/, "Node N on HERE"],
    [/this one knows \d+/, "this one knows N"],
    [/damaged \(\*+ .*\)/, "damaged (WHERE)"],
  ]);
});

// Root may read everything.
test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
  const db = await after((path) => chmodSync(path, 0));
  const { findings } = await examine(null, { db });
  expect(findings.map(({ id }) => id)).toEqual(["inbox_not_readable"]);
});

test("what is to be typed can be, whatever the path is", async () => {
  const db = join(tempFiles(), "it's here; rm x.db");
  await after((path) => {
    truncateSync(path, 257 * 2 ** 20);
    renameSync(path, db);
  });
  const fixes = (await examine(null, { db })).findings.map(({ fix }) => fix).join("\n");
  const [, typed = ""] = /run: sqlite3 (.*) "PRAGMA/.exec(fixes) ?? [];
  expect(execFileSync("sh", ["-c", `printf %s ${typed}`], { encoding: "utf8" })).toBe(db);
});

test("an inbox that was examined is as it was, and the lock that was tried is free", async () => {
  const db = await fillInbox([{ eventId: "one" }]);
  const before = readFileSync(db);
  const { findings } = await examine(null, { db });
  expect(readFileSync(db).equals(before)).toBe(true);
  expect((await examine(null, { db })).findings).toEqual(findings);
  const logs = readdirSync(dirname(db)).filter((name) => name.endsWith("-wal"));
  expect(logs.filter((name) => statSync(join(dirname(db), name)).size > 0)).toEqual([]);
});

const OWNER = `
  import { sqliteStore } from ${JSON.stringify(new URL("../../../../dist/kit/stores/sqlite/sqlite-store.js", import.meta.url).href)};
  const store = sqliteStore({ path: process.argv[1], shared: process.argv[2] === "shared" });
  await store.open({ endpoint: "default", clock: { now: Date.now } });
  console.log("open");
  // A store that nothing refers to is collected, and its lock with it.
  setInterval(() => store, 1000);
`;

test.each(["alone", "shared"])(
  "an inbox that a process has open, %s, has an owner",
  async (role) => {
    const db = await fillInbox([]);
    const owner = spawn(process.execPath, ["--input-type=module", "--eval", OWNER, db, role]);
    onTestFinished(() => void owner.kill());
    await once(owner.stdout, "data");
    const { findings } = await examine(null, { db });
    expect(findings.map(({ level, id }) => `${level} ${id}`)).toEqual([
      "ok inbox_file",
      "ok inbox_owner",
      "ok inbox_sound",
      "ok inbox_up_to_date",
    ]);
  },
);
