import { statSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../../../../open-sqlite.js";
import type { InboxStore } from "../../../../../../src/kit/index.js";
import type { SqliteStore } from "../../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { newEvent } from "../../../inbox/new-event.js";
import { accept, inboxPath, openStore } from "../open-store.js";

const PAGE_BYTES = 4096;
const BODY = Buffer.alloc(1_000_000, "x");

/** Some 250 pages each: few commits, because each waits for the disk. */
async function acceptMany(store: InboxStore, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await accept(store, newEvent({ body: BODY }));
}

const walPages = (path: string): number => statSync(`${path}-wal`).size / PAGE_BYTES;
const checkpoints = (store: SqliteStore) => store.diagnostics()?.checkpoints;

test("commits without a pause do not let the WAL grow, and each is there in the end", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await acceptMany(store, 80);
  // Twenty thousand pages were written. How many checkpoints that took depends on how busy the
  // machine is.
  expect(walPages(path)).toBeLessThan(17_000);
  expect(checkpoints(store)?.done).toBeGreaterThan(0);
  expect(checkpoints(store)?.failed).toBe(0);
  expect((await store.stats("default")).total).toBe(80);
});

test("the WAL grows during a long read, and begins anew after it", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await acceptMany(store, 1);
  const reader = openSqlite(path, { readonly: true });
  onTestFinished(() => void reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM inbox").get();
  await acceptMany(store, 30);
  const grown = walPages(path);
  expect(grown).toBeGreaterThan(7000);
  reader.exec("COMMIT");
  await acceptMany(store, 30);
  // The file keeps its length, and is written from its beginning again: twice as many pages would
  // not fit.
  const kept = walPages(path);
  for (let times = 0; times < 2; times++) await acceptMany(store, 30);
  expect(walPages(path)).toBeLessThan(kept + 7500);
});

test("closing while a checkpoint runs ends, and the next opening finds everything", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  // The last of them begins a checkpoint.
  while (walPages(path) < 4000) await acceptMany(store, 1);
  await store.close("default");
  const again = await openStore(path);
  expect((await again.stats("default")).total).toBeGreaterThan(10);
});
