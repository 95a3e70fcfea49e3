import { closeSync, fstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { createWalSync } from "../../../../../../src/kit/stores/sqlite/disk/wal-sync.js";
import { turns } from "../../../../until.js";
import { inboxPath, useSync, type Sync } from "../open-store.js";

/** The syncs that began. Each ends when the test says so. */
const syncs: { descriptor: number; end: (error: Error | null) => void }[] = [];

function openWal(isFake = true): ReturnType<typeof createWalSync> {
  const path = inboxPath();
  writeFileSync(`${path}-wal`, "x");
  syncs.length = 0;
  if (isFake) useSync(((descriptor, end) => void syncs.push({ descriptor, end })) as Sync);
  return createWalSync(path);
}

/** What became of a sync so far. */
function outcomeOf(sync: Promise<void>): { now: string } {
  const outcome = { now: "runs" };
  sync.then(
    () => (outcome.now = "synced"),
    (error: Error) => (outcome.now = error.message),
  );
  return outcome;
}

test("a descriptor that could not be opened anew never closes another file", async () => {
  const path = inboxPath();
  writeFileSync(`${path}-wal`, "x");
  const wal = createWalSync(path);
  rmSync(`${path}-wal`);
  await expect(wal.reopen()).rejects.toThrow("ENOENT");
  writeFileSync(`${path}-other`, "y");
  const other = openSync(`${path}-other`, "r");
  wal.close();
  expect(fstatSync(other).size).toBe(1);
  closeSync(other);
});

test("two syncs run at the same time, calls meanwhile share the next one, and each resolves", async () => {
  const wal = openWal(false);
  await Promise.all(Array.from({ length: 20 }, () => wal.sync()));
  expect(wal.durations().count).toBe(3);
  wal.close();
  await expect(wal.sync()).rejects.toThrow("closed");
});

test("a sync that ends before an earlier one waits for it; each has a descriptor of its own", async () => {
  const wal = openWal();
  const first = outcomeOf(wal.sync());
  const second = outcomeOf(wal.sync());
  expect(new Set(syncs.map(({ descriptor }) => descriptor)).size).toBe(2);
  syncs[1]!.end(null);
  await turns();
  expect([first.now, second.now]).toEqual(["runs", "runs"]);
  syncs[0]!.end(null);
  await turns();
  expect([first.now, second.now]).toEqual(["synced", "synced"]);
});

test.each([
  ["an earlier one ends well after it", [1, 0]],
  ["a later one ends well after it", [0, 1]],
])("a sync that fails takes those with it that overlap it: %s", async (_which, [failed, other]) => {
  const wal = openWal();
  const outcomes = [outcomeOf(wal.sync()), outcomeOf(wal.sync())];
  const third = outcomeOf(wal.sync());
  syncs[failed!]!.end(new Error("EIO"));
  await turns();
  // Its descriptor is in use, and could be closed once all calls have settled.
  expect(outcomes[other!]!.now).toBe("runs");
  syncs[other!]!.end(null);
  await turns();
  expect(outcomes.map(({ now }) => now)).toEqual(["EIO", "EIO"]);
  expect(third.now).toBe("EIO");
  expect(syncs.length).toBe(2);
  await wal.reopen();
  const again = [outcomeOf(wal.sync()), outcomeOf(wal.sync())];
  const [two, three] = syncs.splice(2);
  expect(two!.descriptor).not.toBe(three!.descriptor);
  for (const sync of [two!, three!]) sync.end(null);
  await turns();
  expect(again.map(({ now }) => now)).toEqual(["synced", "synced"]);
});

test("the descriptors are replaced only when no sync uses them", async () => {
  const wal = openWal();
  const failed = outcomeOf(wal.sync());
  const running = outcomeOf(wal.sync());
  syncs[0]!.end(new Error("EIO"));
  const reopened = outcomeOf(wal.reopen());
  await turns();
  expect(reopened.now).toBe("runs");
  expect(() => fstatSync(syncs[1]!.descriptor)).not.toThrow();
  syncs[1]!.end(null);
  await turns();
  expect([reopened.now, failed.now, running.now]).toEqual(["synced", "EIO", "EIO"]);
});

test.each([
  ["overlaps", 8, 2],
  ["makes one after the other", 16, 1],
])("a disk that %s syncs is found out with the first ones", async (_what, besideMs, atOnce) => {
  const wal = openWal();
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  const end = (at: number, durationMs: number): void => {
    now += durationMs;
    syncs[at]!.end(null);
  };
  for (let at = 0; at < 16; at++) {
    expect(wal.atOnce()).toBe(1);
    void wal.sync();
    end(at, 8);
    await turns(1);
  }
  expect(wal.atOnce()).toBe(2);
  for (let at = 16; at < 48; at += 2) {
    void wal.sync();
    void wal.sync();
    end(at, 8);
    end(at + 1, besideMs - 8);
    await turns(1);
  }
  expect(wal.atOnce()).toBe(atOnce);
  clock.mockRestore();
});

test("the trial still ends when two endpoints make their first syncs beside each other", async () => {
  const wal = openWal();
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  void wal.sync();
  for (let at = 1; at < 20; at++) {
    void wal.sync();
    syncs[at - 1]!.end(null);
    await turns(1);
  }
  syncs[19]!.end(null);
  for (let at = 20; at < 40; at++) {
    void wal.sync();
    syncs[at]!.end(null);
    await turns(1);
  }
  expect(wal.atOnce()).toBe(2);
  clock.mockRestore();
});
