import { spawnSync } from "node:child_process";
import fs, { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { withInbox } from "../../../../../src/cli/inbox/open-inbox.js";
import { sqliteStore } from "../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { batchOf, newEvent } from "../../inbox/new-event.js";
import { codeOf, startRig } from "../../inbox/receiver-rig.js";
import { accept, inboxPath, openStore, useSync } from "./open-store.js";

/**
 * Takes the whole file, as a program may that uses no shared memory: only SQLite's lock on the file
 * keeps it out.
 */
const TAKER = `
  const db = new (require("better-sqlite3"))(process.argv[1], { timeout: 0 });
  db.pragma("locking_mode = EXCLUSIVE");
  try {
    db.prepare("SELECT count(*) FROM inbox").get();
    console.log("taken");
  } catch (error) {
    console.log(error.code);
  }`;

function takenByAnotherProcess(path: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", TAKER, path], { encoding: "utf8" });
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
