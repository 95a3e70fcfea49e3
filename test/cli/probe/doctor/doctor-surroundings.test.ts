import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  renameSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { Subject } from "../../../../src/cli/probe/doctor/examination.js";
import type { Surroundings } from "../../../../src/cli/probe/doctor/examination.js";
import { examineConnection } from "../../../../src/cli/probe/doctor/examine-connection.js";
import { fillInbox } from "../../fill-inbox.js";
import { serveReceiver } from "../../serve-requests.js";
import { tempFile, tempFiles } from "../../temp-files.js";
import { examine, examineHere } from "./examine.js";

test.each([() => false, (path: string) => path.endsWith(".db")])(
  "a file or a folder that this user may not write to: writable is %s",
  async (isWritable) => {
    const examined = await examineHere(await fillInbox([]), { isWritable });
    expect(examined.problems).toEqual(["inbox_not_writable"]);
    expect(examined.skipped).toEqual(expect.arrayContaining(["inbox-owner", "inbox-content"]));
  },
);

test("a driver of SQLite that does not load is a problem, and says what to type", async () => {
  const error = Object.assign(new Error("other NODE_MODULE_VERSION"), {
    code: "ERR_DLOPEN_FAILED",
  });
  const tryDriver = () => {
    throw error;
  };
  const examined = await examineHere(await fillInbox([]), { tryDriver });
  expect(examined.problems).toEqual(["driver_missing"]);
  expect(examined.find("driver_missing")?.fix).toContain("npm rebuild");
  expect(examined.skipped).toEqual(expect.arrayContaining(["inbox-owner", "inbox-content"]));
});

/** A file of SQLite on which this was run. */
function changed(path: string, sql: string): string {
  const db = new Database(path);
  db.exec(sql);
  db.close();
  return path;
}

test("no file, no inbox, somebody else's file, a newer one", async () => {
  const missing = join(tempFiles(), "none.db");
  expect((await examineHere(missing)).problems).toEqual(["inbox_missing"]);
  expect(existsSync(missing)).toBe(false);
  const theirs = changed(tempFile("", "theirs.db"), "CREATE TABLE customers (name TEXT)");
  const newer = changed(await fillInbox([]), "PRAGMA user_version = 99");
  for (const path of [
    tempFiles(),
    tempFile("a letter to the reader", "letter.db"),
    theirs,
    newer,
  ]) {
    const examined = await examineHere(path);
    expect(examined.problems).toEqual(["inbox_not_ours"]);
    expect(examined.find("inbox_not_ours")?.fix?.includes("Upgrade")).toBe(path === newer);
  }
});

// Root may read everything.
test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
  const db = await fillInbox([]);
  chmodSync(db, 0);
  expect((await examineHere(db)).problems).toEqual(["inbox_not_readable"]);
});

test("a path that leads in a circle, and a lock that cannot be looked at, end no examination", async () => {
  const circle = join(tempFiles(), "circle.db");
  symlinkSync(circle, circle);
  const examined = await examineHere(circle);
  expect(examined.problems).toEqual(["inbox_not_readable"]);
  expect(examined.find("inbox_not_readable")?.found).toContain("ELOOP");

  const db = await fillInbox([]);
  rmSync(`${db}-owner`, { force: true });
  mkdirSync(`${db}-owner`);
  const locked = await examineHere(db);
  expect([locked.problems, locked.find("inbox_not_owned")]).toEqual([[], undefined]);
  expect(locked.find("inbox_not_checked")?.found).toMatch(
    /-owner could not be opened \(SQLITE_\w+\)/,
  );
});

test("a damaged file", async () => {
  const db = await fillInbox([{ eventId: "one", body: "x".repeat(200_000) }]);
  writeFileSync(db, readFileSync(db).fill(0x5a, 4096, 12_288));
  expect((await examineHere(db)).problems).toEqual(["inbox_damaged"]);
});

test("a log whose end is missing while a process has the file open", async () => {
  const db = await fillInbox([]);
  const writer = new Database(db);
  onTestFinished(() => void writer.close());
  writer.exec("CREATE TABLE other (text); INSERT INTO other VALUES (printf('%9000s', ''))");
  // A header and one frame.
  truncateSync(`${db}-wal`, 32 + 24 + 4096);
  expect((await examineHere(db)).problems).toEqual(["inbox_damaged"]);
});

test("a file that is too large to be checked, and one that is held", async () => {
  const large = await fillInbox([]);
  truncateSync(large, 257 * 2 ** 20);
  const examined = await examineHere(large);
  expect([examined.problems, examined.find("inbox_sound")]).toEqual([[], undefined]);
  expect(examined.find("inbox_not_checked")?.found).toContain("257 MiB");
  // What is to be typed can be, whatever the path is.
  const odd = join(tempFiles(), "it's here; rm x.db");
  renameSync(large, odd);
  const fix = (await examineHere(odd)).find("inbox_not_checked")?.fix ?? "";
  const [, typed = ""] = /run: sqlite3 (.*) "PRAGMA/.exec(fix) ?? [];
  expect(execFileSync("sh", ["-c", `printf %s ${typed}`], { encoding: "utf8" })).toBe(odd);
  const held = await fillInbox([]);
  const holder = new Database(held);
  onTestFinished(() => void holder.close());
  holder.pragma("locking_mode = EXCLUSIVE");
  holder.exec("BEGIN IMMEDIATE; COMMIT");
  const busy = await examineHere(held);
  expect(busy.problems).toEqual([]);
  expect(busy.find("inbox_not_checked")?.found).toContain("busy");
});

test("events that were given up, wait for too long, or cannot be read are problems", async () => {
  const db = await fillInbox([
    { eventId: "evt_1", state: "dead" },
    { eventId: "evt_2", state: "ready", ageDays: 1 },
    { eventId: "evt_3", state: "quarantined", reason: "not_json" },
  ]);
  const examined = await examineHere(db);
  expect(examined.problems).toEqual(["inbox_behind", "inbox_dead", "inbox_quarantined"]);
  expect(examined.find("inbox_behind")?.found).toBe(
    "Behind: 1 waiting, the oldest received 24 h ago",
  );
  expect(examined.find("inbox_dead")?.commands?.at(-1)).toBe(
    `npx signalbox inbox retry --all-dead --db ${db}`,
  );
});

test("an inbox that nobody has open is told, and is as it was", async () => {
  const db = await fillInbox([{ eventId: "one" }]);
  const before = readFileSync(db);
  const examined = await examineHere(db);
  expect(examined.problems).toEqual([]);
  expect(examined.warnings).toContain("inbox_not_owned");
  expect(examined.find("inbox_sound")?.level).toBe("ok");
  expect(readFileSync(db).equals(before)).toBe(true);
  // The lock that was tried is free again.
  expect((await examineHere(db)).warnings).toContain("inbox_not_owned");
  const left = readdirSync(dirname(db)).filter((name) => name.endsWith("-wal"));
  expect(left.filter((name) => statSync(join(dirname(db), name)).size > 0)).toEqual([]);
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
    const examined = await examineHere(db);
    expect(examined.problems).toEqual([]);
    expect(examined.warnings).not.toContain("inbox_not_owned");
    expect(examined.find("inbox_owner")?.level).toBe("ok");
    expect(examined.find("inbox_sound")?.level).toBe("ok");
  },
);

const PUBLIC: Partial<Surroundings> = { resolve: () => Promise.resolve(["93.184.216.34"]) };

test("the rules for a URL", async () => {
  const { url } = await serveReceiver();
  // By this address a server on this machine is reached, and its name does not say so.
  const plain = await examine(url.replace("127.0.0.1", "0.0.0.0"), {}, PUBLIC);
  expect([plain.problems, plain.warnings]).toEqual([["url_not_https"], []]);
  const right = await examine(url.replace("http://127.0.0.1", "https://0.0.0.0"), {}, PUBLIC);
  expect([right.problems, right.warnings]).toEqual([["tls_failed"], []]);
  expect([right.find("url_form")?.level, right.find("address_public")?.level]).toEqual([
    "ok",
    "ok",
  ]);
  const long = await examine(`${url}?${"x".repeat(2048)}`, {}, PUBLIC);
  expect([long.problems, long.warnings]).toEqual([["url_too_long"], ["url_not_https"]]);
  const odd = await examine(`${url.replace("//", "//user:word@")}#part`, {}, PUBLIC);
  expect(odd.warnings).toEqual(["url_not_https", "url_has_credentials", "url_has_fragment"]);
  expect(JSON.stringify(odd.findings)).not.toContain("word@");
});

test("a host whose address is out of the service's reach", async () => {
  const { url } = await serveReceiver();
  const resolve = () => Promise.resolve(["93.184.216.34", "10.1.2.3"]);
  const examined = await examine(url, {}, { resolve });
  expect(examined.problems).toEqual(["address_private"]);
  expect(examined.find("address_private")?.found).toContain("10.1.2.3");
});

test.each<[code: string, id: string]>([
  ["ECONNREFUSED", "connection_refused"],
  ["EHOSTUNREACH", "connection_timed_out"],
  ["CERT_HAS_EXPIRED", "tls_failed"],
  ["EPROTO", "tls_failed"],
  ["EMFILE", "connection_failed"],
])("%s is called %s", async (code, id) => {
  const send = () => Promise.resolve({ answer: { kind: "unreachable", code } });
  const [finding] = await examineConnection({ send } as unknown as Subject);
  expect(finding).toMatchObject({ level: "problem", id, blocks: true });
  expect(finding?.found).toContain(code);
});
