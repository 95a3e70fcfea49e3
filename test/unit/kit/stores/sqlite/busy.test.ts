import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { turns } from "../../../until.js";
import { newEvent } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore } from "./open-store.js";

/** Another program that writes to the file for as long as it likes. */
function writer(path: string): Database.Database {
  const db = new Database(path, { timeout: 0 });
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
