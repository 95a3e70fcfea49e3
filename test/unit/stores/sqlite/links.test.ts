import { copyFileSync, statSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newEvent } from "../../inbox/new-event.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { tempFolder } from "../../temp-folder.js";
import { accept, inboxPath, openStore } from "./open-store.js";

test("a link and its target are one inbox with one owner", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "real"));
  const target = join(folder, "real", "inbox.db");
  const made = await openStore(target);
  await made.close("default");
  const link = join(folder, "link.db");
  symlinkSync(target, link);
  const store = await openStore(link);
  await accept(store, newEvent());
  expect(existsSync(`${link}-wal`) || existsSync(`${link}-owner`)).toBe(false);
  expect(statSync(`${target}-wal`).size).toBeGreaterThan(0);
  expect((await rejectionOf(openStore(target))).code).toBe("store_in_use");
});

test("a link to nothing is refused as that", async () => {
  const folder = tempFolder();
  symlinkSync(join(folder, "missing.db"), join(folder, "link.db"));
  const error = await rejectionOf(openStore(join(folder, "link.db")));
  expect([error.code, error.message.includes("link to nothing")]).toEqual(["store_unsupported", true]);
});

test("what a dead process left in the WAL is written into the database before anything is answered", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await accept(store, newEvent(), newEvent());
  const crashed = join(tempFolder(), "inbox.db");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, crashed + suffix);
  const next = await openStore(crashed);
  expect((await next.list({})).length).toBe(2);
  // The file alone, without the WAL that stands beside it.
  const alone = join(tempFolder(), "inbox.db");
  copyFileSync(crashed, alone);
  expect((await (await openStore(alone)).list({})).length).toBe(2);
});

test("closing waits for a write in flight", async () => {
  const store = await openStore(inboxPath());
  await accept(store, newEvent({ eventId: "evt_1", signal: undefined as never, state: "quarantined", reason: "x" }));
  const discarding = store.discard([{ endpoint: "default", eventId: "evt_1" }], 0);
  await store.close("default");
  expect(await discarding).toEqual(["moved"]);
});
