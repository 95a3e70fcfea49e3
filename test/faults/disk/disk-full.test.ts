import { statfsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import type { SignalEvent } from "../../../src/kit/index.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { testWith } from "../../prerequisites.js";
import { opened } from "../../unit/kit/inbox/new-event.js";
import { rejectionOf } from "../../unit/signalbox-error-of.js";
import { areHandedOff, idsOf, startReceiver, type Child } from "../child-process.js";
import { expectEachOnce, idsIn, sendAll, some, someOf, untilHealth } from "../deliveries.js";
import { inboxFiles } from "../inbox-file.js";
import { eventThat, healthOf } from "../sender.js";
import { canMount, smallDisk } from "./small-disk.js";

const testOnSmallDisk = testWith(canMount);

const MEBIBYTE = 1024 * 1024;
/**
 * The store leaves 64 MiB of a disk free (`limit-size.ts`): the rest of this one is the inbox's.
 */
const DISK_MEBIBYTES = 90;
const ROUNDS_AT_MOST = 50;

/** The inbox on the small disk, the notes of the callbacks elsewhere. */
const filesOn = (folder: string): { db: string; log: string } => ({
  db: join(folder, "inbox.db"),
  log: inboxFiles().log,
});

interface Answers {
  taken: SignalEvent[];
  refused: SignalEvent[];
}

async function sendUntilFull(port: number): Promise<Answers> {
  const all: Answers = { taken: [], refused: [] };
  for (let round = 0; all.refused.length < 30; round++) {
    expect(round, "it is never full").toBeLessThan(ROUNDS_AT_MOST);
    const answers = await sendAll(port, someOf(100_000, 10));
    all.taken.push(...answers.taken);
    all.refused.push(...answers.refused);
  }
  return all;
}

/**
 * As the sender does. What the first commit meets is still the old limit; finding it too low makes
 * it look again.
 */
async function sendAgain(port: number, events: readonly SignalEvent[]): Promise<void> {
  let { refused } = await sendAll(port, events);
  for (let round = 0; round < 3 && refused.length > 0; round++)
    ({ refused } = await sendAll(port, refused));
  expect(idsIn(refused)).toEqual([]);
}

async function startWithOneInHand(files: {
  db: string;
  log: string;
}): Promise<[Child, SignalEvent, SignalEvent[]]> {
  const receiver = await startReceiver(files);
  const waiting = eventThat("waits");
  const others = some(20);
  expect((await sendAll(receiver.port, [waiting, ...others])).refused).toEqual([]);
  await receiver.until("the callback that waits", (lines) =>
    idsOf(lines, "begun").includes(waiting.id),
  );
  await receiver.until("the hand-offs", areHandedOff(idsIn(others)));
  return [receiver, waiting, others];
}

testOnSmallDisk(
  "a disk that something else fills: 503, nothing is lost, and it goes on once there is room",
  async () => {
    const disk = smallDisk(DISK_MEBIBYTES);
    const files = filesOn(disk.folder);
    const [receiver, waiting, others] = await startWithOneInHand(files);
    const empty = disk.fill();
    const { taken, refused } = await sendUntilFull(receiver.port);
    expect(await healthOf(receiver.port)).toMatchObject({
      ok: false,
      store: { failure: "store_failed" },
    });
    // It comes to its end with no byte left to write that down.
    receiver.kill("SIGUSR2");
    await untilHealth(receiver.port, ({ running }) => running === 0);

    empty();
    await sendAgain(receiver.port, refused);
    expect(await healthOf(receiver.port)).toMatchObject({ ok: true, store: { failure: null } });
    await expectEachOnce(receiver, files, [waiting, ...others, ...taken, ...refused]);
  },
);

testOnSmallDisk(
  "an inbox that has all it may have of the disk still takes the ends of old events",
  async () => {
    const disk = smallDisk(DISK_MEBIBYTES);
    const files = filesOn(disk.folder);
    const empty = disk.fill(15 * MEBIBYTE);
    const [receiver, waiting, others] = await startWithOneInHand(files);
    const { taken, refused } = await sendUntilFull(receiver.port);
    expect(taken.length).toBeGreaterThan(10);
    expect(await healthOf(receiver.port)).toMatchObject({
      ok: false,
      store: { failure: "store_failed" },
    });
    const { bavail, bsize } = statfsSync(disk.folder);
    // The WAL is not counted.
    expect(bavail * bsize).toBeGreaterThan(48 * MEBIBYTE);
    receiver.kill("SIGUSR2");
    await receiver.until("its settlement", areHandedOff([waiting.id]));
    await receiver.until("all others", areHandedOff(idsIn(taken)));

    empty();
    await sendAgain(receiver.port, refused);
    expect(await healthOf(receiver.port)).toMatchObject({ ok: true, store: { failure: null } });
    await expectEachOnce(receiver, files, [waiting, ...others, ...taken, ...refused]);
  },
);

testOnSmallDisk("what a full inbox forgets makes room for new events", async () => {
  const disk = smallDisk(DISK_MEBIBYTES);
  const files = filesOn(disk.folder);
  const receiver = await startReceiver(files);
  const { taken, refused } = await sendUntilFull(receiver.port);
  await receiver.until("the hand-offs", areHandedOff(idsIn(taken)));
  const tool = await opened(sqliteStore({ path: files.db, operator: true }), systemClock);
  const ages = { payloadsOlderThanMs: -1, keysOlderThanMs: Number.MAX_SAFE_INTEGER };
  const pruned = await tool.prune({ endpoint: "default", ...ages, limit: 500 });
  expect(pruned.payloads).toBe(taken.length);
  await tool.close("default");
  await sendAgain(receiver.port, refused);
  await expectEachOnce(receiver, files, [...taken, ...refused]);
});

testOnSmallDisk.each(["new", "old"])(
  "a start of a %s inbox on a full disk is refused with what to do, and works once there is room",
  async (age) => {
    const disk = smallDisk(8);
    const store = sqliteStore(join(disk.folder, "inbox.db"));
    if (age === "old") {
      await opened(store);
      await store.close("default");
    }
    const empty = disk.fill();
    const error = await rejectionOf(opened(store));
    expect([error.code, error.help]).toEqual([
      "store_failed",
      expect.stringContaining("Free disk space"),
    ]);
    empty();
    await opened(store);
    await store.close("default");
  },
);
