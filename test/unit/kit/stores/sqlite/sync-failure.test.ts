import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from "node:fs";
import Database from "better-sqlite3";
import { expect, onTestFinished } from "vitest";
import { testWith } from "../../../../prerequisites.js";
import { rejectionOf } from "../../../signalbox-error-of.js";
import { newEvent } from "../../inbox/new-event.js";
import { accept, inboxPath, openStore } from "./open-store.js";

// The descriptors that the store syncs are swapped for /dev/null under it, which cannot be synced:
// fdatasync answers EINVAL, as a broken disk would answer EIO. Needs /proc.
const canBreakSync = existsSync("/proc/self/fd");
const testOnLinux = testWith(canBreakSync);

function breakSync(path: string): void {
  const descriptors = readdirSync("/proc/self/fd").map(Number);
  const ours = descriptors.filter(
    (descriptor) => targetOf(descriptor) === `${path}-wal` && !isOfSqlite(descriptor),
  );
  expect(ours.length).toBe(2);
  ours.forEach(replaceByNull);
}

function replaceByNull(descriptor: number): void {
  closeSync(descriptor);
  const others: number[] = [];
  for (;;) {
    const opened = openSync("/dev/null", "r");
    if (opened === descriptor) break;
    others.push(opened);
  }
  for (const other of others) closeSync(other);
}

/** SQLite opens its files with O_NOFOLLOW. */
function isOfSqlite(descriptor: number): boolean {
  const [, flags = "0"] =
    /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
  return (Number.parseInt(flags, 8) & constants.O_NOFOLLOW) !== 0;
}

function targetOf(descriptor: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}

testOnLinux(
  "while a read keeps the file from being rewritten, nothing is acknowledged",
  async () => {
    const path = inboxPath();
    const store = await openStore(path);
    await accept(store, newEvent());
    breakSync(path);
    const reader = new Database(path, { readonly: true });
    onTestFinished(() => void reader.close());
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM inbox").get();
    await rejectionOf(accept(store, newEvent()));
    for (let time = 0; time < 3; time++) {
      expect((await rejectionOf(accept(store, newEvent()))).code).toBe("store_failed");
    }
    reader.exec("COMMIT");
    await accept(store, newEvent());
  },
);

testOnLinux(
  "a take-over after a failed sync fails with the medium and frees once it works",
  async () => {
    const path = inboxPath();
    const store = await openStore(path);
    const reclaim = () => store.reclaim({ endpoint: "default", held: [], crashed: false });
    breakSync(path);
    await rejectionOf(accept(store, newEvent({ state: "leased" })));
    expect((await reclaim()).freed).toBe(1);
    breakSync(path);
    expect((await rejectionOf(reclaim())).code).toBe("store_failed");
    expect((await reclaim()).freed).toBe(0);
  },
);
