import { existsSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { rejectionOf } from "../../signalbox-error-of.js";
import { inboxPath, openStore } from "./open-store.js";

test.each([false, true])("somebody else's database is refused and left as it is (operator: %j)", async (operator) => {
  const path = inboxPath();
  const foreign = new Database(path);
  foreign.exec("CREATE TABLE people (name TEXT)");
  foreign.close();
  const before = readFileSync(path);
  expect((await rejectionOf(openStore({ path, operator }))).code).toBe("store_unsupported");
  // The switch to WAL alone would change the header.
  expect(readFileSync(path).equals(before)).toBe(true);
});

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
  expect([error.code, error.help.includes("Start its receiver")]).toEqual(["store_unsupported", true]);
});

test("an owner that was refused leaves no journal of its lock behind", async () => {
  const path = inboxPath();
  await openStore(path);
  expect((await rejectionOf(openStore(path))).code).toBe("store_in_use");
  expect(existsSync(`${path}-owner-journal`)).toBe(false);
});
