import { spawnSync } from "node:child_process";
import fs, { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../../../open-sqlite.js";
import type { Database } from "../../../../../src/base/sqlite/database.js";
import { withInbox } from "../../../../../src/cli/inbox/open-inbox.js";
import { sqliteStore } from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { turns } from "../../../until.js";
import { batchOf, newEvent } from "../../inbox/new-event.js";
import { codeOf, startRig } from "../../inbox/receiver-rig.js";
import { accept, inboxPath, openStore, useSync } from "./open-store.js";

/**
 * Takes the whole file, as a program may that uses no shared memory: only SQLite's lock on the file
 * keeps it out.
 */
const TAKER = `
  const { loadDriver } = await import(process.argv[2]);
  const db = loadDriver().open(process.argv[1], { timeout: 0 });
  db.pragma("locking_mode = EXCLUSIVE");
  try {
    db.prepare("SELECT count(*) FROM inbox").get();
    console.log("taken");
  } catch (error) {
    console.log(error.code);
  }`;

const DRIVER = new URL("../../../../../dist/base/sqlite/sqlite-driver.js", import.meta.url).href;

function takenByAnotherProcess(path: string): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", TAKER, path, DRIVER],
    { encoding: "utf8" },
  );
  return stdout.trim() + stderr;
}

test.each([
  ["a second owner", (path: string) => rejectionOf(openStore(path))],
  ["an owner that would share", (path: string) => rejectionOf(openStore({ path, shared: true }))],
  ["a tool", (path: string) => openStore({ path, operator: true })],
  ["a command", (db: string) => withInbox({ db }, ({ now }) => Promise.resolve({ now }))],
])("%s in the process that has the inbox open takes none of its locks away", async (_who, open) => {
  const path = inboxPath();
  const store = await openStore(path);
  await accept(store, newEvent());
  const opened = await open(path);
  expect(takenByAnotherProcess(path)).toBe("SQLITE_BUSY");
  expect((await store.commit(batchOf({ accepts: [newEvent()] }))).accepts).toMatchObject([
    { status: "accepted" },
  ]);
  if ("close" in opened) await opened.close("default");
});

test("a delivery is not acknowledged when the -wal was deleted after its transaction began", async () => {
  const path = inboxPath();
  const { fdatasync } = fs;
  const { deliver, namesSeen } = await startRig({ store: sqliteStore(path) });
  useSync(((descriptor, end) => {
    rmSync(`${path}-wal`, { force: true });
    fdatasync(descriptor, end);
  }) as typeof fdatasync);
  expect([codeOf(await deliver()), namesSeen()]).toEqual(["503 store_unavailable", ["rejected"]]);
});

/** Another program that writes to the file for as long as it likes. */
function writer(path: string): Database {
  const db = openSqlite(path, { timeout: 0 });
  onTestFinished(() => void db.close());
  db.exec("BEGIN IMMEDIATE");
  return db;
}

test("a file that another writes to is waited for, and the event loop goes on meanwhile", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  const other = writer(path);
  let settled = false;
  const committing = accept(store, newEvent()).finally(() => (settled = true));
  // Were the wait inside of SQLite, this process could not turn, nor the other writer here ever
  // end.
  await turns(200);
  expect(settled).toBe(false);
  // Reads do not wait.
  expect((await store.stats("default")).total + (await store.list({})).length).toBe(0);
  other.exec("COMMIT");
  expect((await committing).accepts).toEqual([{ status: "accepted", seq: 1, token: 0 }]);
});

test("closing waits for a write that waits for another program", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  const other = writer(path);
  const discarding = store.discard([{ endpoint: "default", eventId: "x" }]);
  const closing = store.close("default");
  await turns(20);
  other.exec("COMMIT");
  expect(await discarding).toEqual(["not_found"]);
  await closing;
});

test("a file that stays busy is given up in the end, as a failure of the store and not of the row", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  const other = writer(path);
  const startedAt = performance.now();
  const error = await rejectionOf(accept(store, newEvent()));
  expect([error.code, error.help]).toEqual([
    "store_failed",
    expect.stringContaining("holds a lock"),
  ]);
  expect(performance.now() - startedAt).toBeGreaterThan(2000);
  other.exec("COMMIT");
  await accept(store, newEvent());
});
