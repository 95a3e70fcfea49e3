import { expect } from "vitest";
import type { SignalEvent } from "../../../src/kit/index.js";
import { testWith } from "../../prerequisites.js";
import { areHandedOff, startReceiver } from "../child-process.js";
import { expectEachOnce, idsIn, sendAll, sendPages, someOf, walPages } from "../deliveries.js";
import { canPreload } from "../preload/compile.js";
import { healthOf } from "../sender.js";
import { startFaulty } from "./io-faults.js";

const testOnLinux = testWith(canPreload);

const WAL = "inbox.db-wal";
const DB = "inbox.db";
/**
 * More than the WAL is let to grow to before it is written into the database, and again after that
 * failed.
 */
const PAGES_IN_WAL = 5000;

testOnLinux(
  "an error at any write of a transaction refuses it whole, and the next one is whole",
  async () => {
    const { files, faults, receiver } = await startFaulty();
    const taken: SignalEvent[] = [];
    let refusals = 0;
    for (let write = 0; write < 14; write++) {
      const [event] = someOf(10_000, 1) as [SignalEvent];
      const failed = faults.strike({ call: "pwrite", file: WAL, error: "ENOSPC", after: write });
      const first = await sendAll(receiver.port, [event]);
      if (failed() > 0) refusals += first.refused.length;
      faults.heal();
      const second = await sendAll(receiver.port, [event]);
      expect(idsIn(second.refused), `after ${write} writes`).toEqual([]);
      taken.push(event);
    }
    // Else it was never in the middle.
    expect(refusals).toBeGreaterThan(3);
    await expectEachOnce(receiver, files, taken);
  },
);

testOnLinux(
  "a database that cannot be written costs no acknowledged event, and the WAL stops growing once that is over",
  async () => {
    const { files, faults, receiver } = await startFaulty();
    const taken: SignalEvent[] = [];
    const sendMany = async (): Promise<void> => {
      for (let round = 0; round < 4; round++) taken.push(...(await sendPages(receiver)));
      await receiver.until("the hand-offs", areHandedOff(idsIn(taken)));
    };
    const failed = faults.strike({ call: "pwrite", file: DB, error: "EIO" });
    // The WAL alone holds them as long as the file does not take them.
    while (failed() === 0 || walPages(files) < PAGES_IN_WAL) await sendMany();
    faults.heal();
    const atHealing = walPages(files);
    // Each time about a thousand pages.
    for (let time = 0; time < 12; time++) await sendMany();
    expect(walPages(files)).toBeLessThan(atHealing + 2 * PAGES_IN_WAL);
    await expectEachOnce(receiver, files, taken);
  },
);

// The kernel forgets what it could not write, and SQLite copies no page twice: only the WAL still
// has all of it.
testOnLinux(
  "once a checkpoint's sync failed the WAL is kept until the next start, which writes all of it",
  async () => {
    const { files, faults, receiver } = await startFaulty();
    const taken: SignalEvent[] = [];
    const failed = faults.strike({ call: "fsync", file: DB, error: "EIO", times: 1 });
    while (failed() === 0) taken.push(...(await sendPages(receiver)));
    const before = walPages(files);
    for (let time = 0; time < 30; time++) taken.push(...(await sendPages(receiver)));
    const { medium } = await healthOf(receiver.port);
    expect(medium?.checkpoints).toMatchObject({ failed: 1, stopped: true });
    // Some 250 pages each time, and none of them in the place of another.
    expect(walPages(files)).toBeGreaterThan(before + 6000);
    await receiver.until("the hand-offs", areHandedOff(idsIn(taken)));
    expect(await receiver.end("SIGTERM")).toBe(0);
    expect(walPages(files)).toBeGreaterThan(before + 6000);

    const next = await startReceiver(files);
    expect(walPages(files)).toBeLessThan(before);
    await expectEachOnce(next, files, [], taken);
  },
);
