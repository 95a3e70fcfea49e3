import { closeSync, fstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createWalSync } from "../../../../src/stores/sqlite/wal-sync.js";
import { inboxPath } from "./open-store.js";

test("a descriptor that could not be opened anew never closes another file", () => {
  const path = inboxPath();
  writeFileSync(`${path}-wal`, "x");
  const wal = createWalSync(path);
  rmSync(`${path}-wal`);
  expect(() => wal.reopen()).toThrow("ENOENT");
  writeFileSync(`${path}-other`, "y");
  const other = openSync(`${path}-other`, "r");
  wal.close();
  expect(fstatSync(other).size).toBe(1);
  closeSync(other);
});

test("calls that come while a sync runs share the next one, and each resolves", async () => {
  const path = inboxPath();
  writeFileSync(`${path}-wal`, "x");
  const wal = createWalSync(path);
  await Promise.all(Array.from({ length: 20 }, () => wal.sync()));
  wal.close();
  await expect(wal.sync()).rejects.toThrow("closed");
});
