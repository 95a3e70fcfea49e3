import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { testWith } from "../../prerequisites.js";
import { batchOf, newEvent, opened } from "../../unit/kit/inbox/new-event.js";
import { rejectionOf } from "../../unit/signalbox-error-of.js";
import { inboxFiles } from "../inbox-file.js";
import { canPreload } from "../preload/compile.js";
import { canMount, smallDisk } from "./small-disk.js";

// A file system that turns read-only under a running receiver: failing-io.test.ts. (The kernel
// remounts none that has files open for writing; it turns one read-only by itself after an error,
// and then writes fail with EROFS.)
const testOnSmallDisk = testWith(canMount);
const testOnLinux = testWith(canPreload);

const ENDPOINT = "default";

/** An inbox with one event, closed, or as a crash leaves it. */
async function makeInbox(path: string, crashed: boolean): Promise<string> {
  const event = signalEvent();
  const original = crashed ? `${path}-original` : path;
  const store = await opened(sqliteStore(original));
  await store.commit(batchOf({ accepts: [newEvent({ signal: event })] }));
  if (crashed) for (const suffix of ["", "-wal"]) copyFileSync(original + suffix, path + suffix);
  await store.close(ENDPOINT);
  return event.id;
}

const bytesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")]),
  );

testOnSmallDisk.each([
  ["closed", false],
  ["left behind by a crash", true],
])(
  "an inbox that was %s, on a read-only file system: refused, as it was, and taken once that is over",
  async (_how, crashed) => {
    const disk = smallDisk(8);
    const path = join(disk.folder, "inbox.db");
    const id = await makeInbox(path, crashed);
    disk.setReadOnly(true);
    const before = bytesIn(disk.folder);
    for (const role of [{}, { shared: true }, { operator: true }]) {
      const error = await rejectionOf(opened(sqliteStore({ path, ...role })));
      expect([error.code, error.help]).toEqual([
        "store_failed",
        expect.stringContaining("read-only"),
      ]);
    }
    expect(bytesIn(disk.folder)).toEqual(before);

    disk.setReadOnly(false);
    const store = await opened(sqliteStore(path));
    expect((await store.list({})).map(({ eventId }) => eventId)).toEqual([id]);
    await store.close(ENDPOINT);
  },
);

testOnSmallDisk(
  "a new inbox on a read-only file system is refused, in an old folder and in a new one",
  async () => {
    const disk = smallDisk(8);
    mkdirSync(join(disk.folder, "old"));
    disk.setReadOnly(true);
    for (const folder of ["old", "new"]) {
      const error = await rejectionOf(opened(sqliteStore(join(disk.folder, folder, "inbox.db"))));
      expect([error.code, error.help]).toEqual([
        "store_failed",
        expect.stringContaining("read-only"),
      ]);
      expect(existsSync(join(disk.folder, folder, "inbox.db"))).toBe(false);
    }
    disk.setReadOnly(false);
  },
);

const OPEN_AND_CLOSE = `
import { sqliteStore } from "signalbox/stores/sqlite";
const store = sqliteStore(process.argv[1]);
const result = await store.open({ endpoint: "default", clock: { now: Date.now } }).then(() => store.close("default"), ({ code, message }) => ({ code, message }));
console.log(JSON.stringify(result ?? {}));`;

/** Opens and closes the inbox as a user whose rights are checked, which those of root are not. */
function openWithoutPrivileges(path: string): { code?: string; message?: string } {
  const node = [process.execPath, "--input-type=module", "--eval", OPEN_AND_CLOSE, path];
  const drop =
    process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  const [command = "", ...args] = [...drop, ...node];
  return JSON.parse(execFileSync(command, args, { encoding: "utf8" })) as object;
}

testOnLinux.each(["", "-wal", "-shm", "-owner"])(
  "an inbox%s without the right to write it is named, nothing is left behind, and a start works once it has the right",
  async (suffix) => {
    const { db } = inboxFiles();
    await makeInbox(db, suffix === "-wal");
    if (!existsSync(db + suffix)) writeFileSync(db + suffix, "");
    const folder = dirname(db);
    const names = readdirSync(folder);
    if (process.getuid?.() === 0)
      for (const name of [".", ...names]) chownSync(join(folder, name), 65534, 65534);
    chmodSync(db + suffix, 0o444);
    const { code, message } = openWithoutPrivileges(db);
    expect([code, message]).toEqual([
      "store_failed",
      expect.stringContaining(`${db}${suffix} cannot be written`),
    ]);
    expect(readdirSync(folder)).toEqual(names);
    chmodSync(db + suffix, 0o644);
    expect(openWithoutPrivileges(db)).toEqual({});
  },
);
