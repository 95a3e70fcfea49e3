import { expect, test, vi } from "vitest";
import { areHandedOff, startReceiver, type Child, type ChildConfig } from "./child-process.js";
import { inboxFiles, readLog, readRows, unflaggedRepeats, type Row } from "./inbox-file.js";
import { SEED, seededRandom } from "./seeded-random.js";
import { sendUntilRefused } from "./sender.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** Starts a receiver, sends to it, and kills it in the moment of a random acknowledgement; again and again. */
async function killUnderLoad(config: ChildConfig, rounds: number): Promise<Set<string>> {
  const random = seededRandom(SEED);
  const acknowledged = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const receiver = await startReceiver(config);
    const last = acknowledged.size + 1 + Math.floor(random() * 600);
    await sendUntilRefused(
      receiver.port,
      32,
      () => "fine",
      (id) => {
        acknowledged.add(id);
        if (acknowledged.size === last) receiver.kill("SIGKILL");
      },
    );
    expect(await receiver.exited).toBe("SIGKILL");
  }
  return acknowledged;
}

function missing(acknowledged: Iterable<string>, found: Iterable<string>): string[] {
  const there = new Set(found);
  return [...acknowledged].filter((id) => !there.has(id));
}

const idOf = ({ event_id }: Row): string => event_id;

/** What was stored, in the end and each repeat flagged. */
function expectAllHandedOff(files: { db: string; log: string }, stored: readonly Row[], hint: string): void {
  const begun = readLog(files.log);
  const begunIds = begun.map(({ id }) => id);
  expect(missing(stored.map(idOf), begunIds), hint).toEqual([]);
  expect(unflaggedRepeats(begun), hint).toEqual([]);
  expect(new Set(readRows(files.db).map(({ state }) => state)), hint).toEqual(new Set(["done"]));
  // Without an event in hand at a kill the test would show nothing.
  expect(
    begun.some(({ possiblyRepeated }) => possiblyRepeated),
    hint,
  ).toBe(true);
}

test("a receiver killed eight times under load loses no acknowledged event and flags every repeat", async () => {
  const files = inboxFiles();
  const acknowledged = await killUnderLoad(files, 8);
  const hint = `FAULT_SEED=${SEED}, ${acknowledged.size} acknowledged`;

  const receiver = await startReceiver(files);
  // Also those whose answer the kill cut off: stored is stored.
  const stored = readRows(files.db);
  expect(missing(acknowledged, stored.map(idOf)), hint).toEqual([]);
  const open = stored.filter(({ state }) => state !== "done").map(idOf);
  await receiver.until(`the hand-off of what is left (${hint})`, areHandedOff(open));
  receiver.kill("SIGTERM");
  expect(await receiver.exited, hint).toBe(0);

  expectAllHandedOff(files, stored, hint);
});

test("the same check catches a store that acknowledges before it commits", async () => {
  const files = inboxFiles();
  const acknowledged = await killUnderLoad({ ...files, fault: "acknowledge before commit" }, 3);
  await startReceiver(files);
  expect(missing(acknowledged, readRows(files.db).map(idOf)), `FAULT_SEED=${SEED}`).not.toEqual([]);
});

test("two processes that share a file, each killed at random under load, lose nothing and flag every repeat", async () => {
  const files = inboxFiles();
  const random = seededRandom(SEED);
  const acknowledged = new Set<string>();

  async function sendUntilKilled(receiver: Child): Promise<void> {
    let left = 1 + Math.floor(random() * 200);
    await sendUntilRefused(
      receiver.port,
      16,
      () => "fine",
      (id) => {
        acknowledged.add(id);
        left -= 1;
        if (left === 0) receiver.kill("SIGKILL");
      },
    );
    expect(await receiver.exited).toBe("SIGKILL");
  }
  for (let round = 0; round < 3; round++) {
    const pair = [startReceiver({ ...files, shared: true }), startReceiver({ ...files, shared: true })];
    await Promise.all((await Promise.all(pair)).map(sendUntilKilled));
  }
  const hint = `FAULT_SEED=${SEED}, ${acknowledged.size} acknowledged`;

  const stored = readRows(files.db);
  expect(missing(acknowledged, stored.map(idOf)), hint).toEqual([]);
  const open = stored.filter(({ state }) => state !== "done").map(idOf);
  // By its clock all their leases have run out.
  const last = await startReceiver({ ...files, shared: true, clockAheadMs: 3_600_000 });
  await last.until(`the hand-off of what is left (${hint})`, areHandedOff(open));
  last.kill("SIGTERM");
  expect(await last.exited, hint).toBe(0);

  expectAllHandedOff(files, stored, hint);
});
