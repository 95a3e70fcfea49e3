import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openSqlite } from "../../../../../open-sqlite.js";
import type { InboxStore } from "../../../../../../src/kit/index.js";
import {
  refuseUnguardedFiles,
  watchFiles,
} from "../../../../../../src/kit/stores/sqlite/disk/inbox-files.js";
import { openDatabase } from "../../../../../../src/kit/stores/sqlite/open-database.js";
import {
  sqliteStore,
  type SqliteStoreOptions,
} from "../../../../../../src/kit/stores/sqlite/sqlite-store.js";
import { createWalSync } from "../../../../../../src/kit/stores/sqlite/disk/wal-sync.js";
import { errorOf, rejectionOf } from "../../../../signalbox-error-of.js";
import { tempFolder } from "../../../../temp-folder.js";
import { newEvent, opened } from "../../../inbox/new-event.js";
import { accept, inboxPath, openStore } from "../open-store.js";

const SUFFIXES = ["", "-wal", "-shm", "-owner"];

/** An inbox that is closed, with a file for each of SQLite's names. */
async function closedInbox(): Promise<string> {
  const path = inboxPath();
  await (await openStore(path)).close("default");
  for (const suffix of SUFFIXES) writeFileSync(path + suffix, "", { flag: "a" });
  return path;
}

test.each(SUFFIXES)(
  "an inbox whose file inbox.db%s has a second name or is a symbolic link is not opened",
  async (suffix) => {
    const path = await closedInbox();
    const second = join(tempFolder(), "second.db");
    linkSync(path + suffix, second + suffix);
    const refusal = async (options: SqliteStoreOptions) => {
      const { code, message } = await rejectionOf(openStore(options));
      return `${code}: ${message}`;
    };
    for (const role of [{}, { shared: true }, { operator: true }])
      for (const name of suffix === "" ? [path, second] : [path])
        expect(await refusal({ path: name, ...role })).toMatch(/^store_unsupported: .*hard link/);
    rmSync(second + suffix);
    await accept(await openStore(path), newEvent());
    if (suffix === "") return;
    const linked = await closedInbox();
    renameSync(linked + suffix, `${linked}-elsewhere`);
    symlinkSync(`${linked}-elsewhere`, linked + suffix);
    expect(await refusal({ path: linked })).toMatch(/^store_unsupported: .*symbolic link/);
  },
);

test("a file that is mounted on its own is refused with the advice to mount its folder", () => {
  const folder = join(tempFolder(), "with a blank");
  const path = join(folder, "inbox.db");
  const mountOf = (point: string): string =>
    `22 27 0:21 / /proc rw - proc proc rw\n36 27 254:0 /srv/inbox.db ${point.replaceAll(" ", "\\040")} rw - ext4 /dev/vda rw\n`;
  for (const suffix of SUFFIXES) {
    const error = errorOf(() => refuseUnguardedFiles(path, mountOf(path + suffix)));
    expect([error.code, error.help.includes("Mount its folder")]).toEqual([
      "store_unsupported",
      true,
    ]);
  }
  for (const point of [folder, `${path}-other`, dirname(folder)])
    refuseUnguardedFiles(path, mountOf(point));
});

async function refusedAndBack(
  store: InboxStore,
  change: () => void,
  undo: () => void,
): Promise<void> {
  await accept(store, newEvent());
  change();
  for (let time = 0; time < 2; time++)
    expect((await rejectionOf(accept(store, newEvent()))).code).toBe("store_failed");
  undo();
  await accept(store, newEvent());
}

test.each(SUFFIXES)(
  "a second name of inbox.db%s under a running receiver, or a link in its place: nothing is taken until it is gone",
  async (suffix) => {
    const path = inboxPath();
    const other = join(tempFolder(), "other.db");
    const store = await openStore(path);
    const link = (): void => linkSync(path + suffix, other);
    await refusedAndBack(store, link, () => rmSync(other));
    const move = (): void => {
      renameSync(path + suffix, other);
      symlinkSync(other, path + suffix);
    };
    await refusedAndBack(store, move, () => renameSync(other, path + suffix));
    expect((await store.list({})).length).toBe(4);
  },
);

test("a deleted -owner file lets no second owner in beside a first one that goes on", async () => {
  const path = inboxPath();
  const first = await openStore(path);
  rmSync(`${path}-owner`);
  expect((await rejectionOf(openStore(path))).code).toBe("store_in_use");
  const second = await openStore({ path, shared: true });
  expect((await rejectionOf(accept(first, newEvent()))).code).toBe("store_failed");
  await accept(second, newEvent());
});

test.each([0, 5000])(
  "a -wal that is cut to %d bytes under a running receiver: nothing more is taken, and a restart goes on",
  async (bytes) => {
    const path = inboxPath();
    const store = await opened(sqliteStore(path));
    await accept(store, newEvent());
    await store.close("default");
    await opened(store);
    await accept(store, newEvent(), newEvent());
    truncateSync(`${path}-wal`, bytes);
    const fileBefore = readFileSync(path);
    for (let time = 0; time < 3; time++) {
      const error = await rejectionOf(accept(store, newEvent()));
      expect([error.code, error.message.includes("truncated")]).toEqual(["store_failed", true]);
    }
    // Closing must not copy what is left of the WAL into the file: it ends in the middle of a
    // transaction.
    await store.close("default");
    expect(readFileSync(path).equals(fileBefore)).toBe(true);
    expect(lstatSync(`${path}-wal`).size).toBe(bytes);
    const next = await openStore(path);
    expect((await next.list({})).length).toBe(1);
    await accept(next, newEvent());
  },
);

test.each([0, 8192])(
  "an inbox that is cut to %d bytes under a running receiver: nothing more is taken, nor by a start that needs what is missing",
  async (bytes) => {
    const path = inboxPath();
    const store = await opened(sqliteStore(path));
    await accept(store, newEvent({ body: Buffer.alloc(100_000, 1) }));
    await store.close("default");
    await opened(store);
    await accept(store, newEvent());
    truncateSync(path, bytes);
    for (let time = 0; time < 2; time++) {
      expect((await rejectionOf(accept(store, newEvent()))).message).toContain(
        `${path} was truncated`,
      );
    }
    // As a kill leaves it.
    const killed = inboxPath();
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, killed + suffix);
    expect((await rejectionOf(openStore(killed))).code).toBe("store_corrupt");
    await store.close("default");
  },
);

test("an inbox that another program vacuums is not taken for one that was cut", async () => {
  const path = inboxPath();
  const store = await openStore(path);
  await accept(
    store,
    newEvent({ eventId: "evt_1", state: "quarantined", body: Buffer.alloc(400_000, 1) }),
  );
  await store.discard([{ endpoint: "default", eventId: "evt_1" }]);
  const other = openSqlite(path);
  other.pragma("wal_checkpoint(TRUNCATE)");
  await accept(store, newEvent());
  const bytes = lstatSync(path).size;
  other.exec("VACUUM");
  other.pragma("wal_checkpoint(TRUNCATE)");
  other.close();
  expect(lstatSync(path).size).toBeLessThan(bytes);
  // Pages that another writer adds stand in the -wal alone.
  const writer = openSqlite(path);
  writer.prepare("INSERT INTO inbox_body VALUES (1000, '{}', ?)").run(Buffer.alloc(100_000, 1));
  await accept(store, newEvent());
  writer.close();
});

test("a -wal that is cut just before a transaction: what stands behind the hole is not acknowledged", () => {
  const path = inboxPath();
  const { db, release } = openDatabase(path, "owner");
  const wal = createWalSync(path);
  const files = watchFiles(db, path, wal);
  const write = (): unknown =>
    db.exec("UPDATE inbox SET attempts = 0; INSERT INTO inbox_body VALUES (NULL, '{}', x'')");
  write();
  const end = files.assertUnchanged();
  write();
  // SQLite gives -1 when it cannot read the length.
  for (const length of [end, 0, -1]) files.assertWritten(length);
  const endBefore = files.assertUnchanged();
  truncateSync(`${path}-wal`, 5000);
  write();
  expect(errorOf(() => files.assertWritten(endBefore)).message).toContain("truncated");
  expect([files.isWalCut(), errorOf(() => files.assertUnchanged()).code]).toEqual([
    true,
    "store_failed",
  ]);
  wal.close();
  release({ keepWal: true });
});

test("a -wal that grows and begins anew is not taken for one that was cut", async () => {
  const path = inboxPath();
  const shared = { path, shared: true };
  const [first, second] = [await openStore(shared), await openStore(shared)];
  const checkpoints = (): number =>
    [first, second].reduce((sum, store) => sum + (store.diagnostics()?.checkpoints.done ?? 0), 0);
  let total = 0;
  while (checkpoints() < 3 && total < 2000) {
    await Promise.all(
      [first, second].map((store) => accept(store, newEvent({ body: Buffer.alloc(300_000) }))),
    );
    total += 2;
  }
  // Both stores can finish one in the last round.
  expect(checkpoints()).toBeGreaterThanOrEqual(3);
  expect((await first.stats("default")).total).toBe(total);
});

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
  expect(lstatSync(`${target}-wal`).size).toBeGreaterThan(0);
  expect((await rejectionOf(openStore(target))).code).toBe("store_in_use");
});

test("a symbolic link whose target is missing is refused", async () => {
  const folder = tempFolder();
  symlinkSync(join(folder, "missing.db"), join(folder, "link.db"));
  const error = await rejectionOf(openStore(join(folder, "link.db")));
  expect([error.code, error.message.includes("target is missing")]).toEqual([
    "store_unsupported",
    true,
  ]);
});
