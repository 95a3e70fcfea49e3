import { expect, test } from "vitest";
import { areHandedOff, startReceiver, type Child, type ChildConfig } from "../child-process.js";
import { inboxFiles, readLog, readRows, unflaggedRepeats, type Row } from "../inbox-file.js";
import { SEED, seededRandom } from "../seeded-random.js";
import { sendUntilRefused } from "../sender.js";

/**
 * Starts receivers on one file, sends to each, and kills each in the moment of a random
 * acknowledgement; again and again.
 */
async function killUnderLoad(
  config: ChildConfig,
  processes: number,
  rounds: number,
): Promise<Set<string>> {
  const random = seededRandom(SEED);
  const acknowledged = new Set<string>();
  async function sendUntilKilled(receiver: Child): Promise<void> {
    let left = 1 + Math.floor(random() * 400);
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
  for (let round = 0; round < rounds; round++) {
    const receivers = await Promise.all(
      Array.from({ length: processes }, () => startReceiver(config)),
    );
    await Promise.all(receivers.map(sendUntilKilled));
  }
  return acknowledged;
}

function missing(acknowledged: Iterable<string>, found: Iterable<string>): string[] {
  const there = new Set(found);
  return [...acknowledged].filter((id) => !there.has(id));
}

const idOf = ({ event_id }: Row): string => event_id;

// One process alone is killed at chosen calls: kill-at-call.test.ts.
test("of two processes that share a file and are killed at random under load, no acknowledged event is lost and every repeat is flagged", async () => {
  const files = inboxFiles();
  const acknowledged = await killUnderLoad({ ...files, shared: true }, 2, 3);
  const hint = `FAULT_SEED=${SEED}, ${acknowledged.size} acknowledged`;

  // Also those whose answer the kill cut off: stored is stored.
  const stored = readRows(files.db);
  expect(missing(acknowledged, stored.map(idOf)), hint).toEqual([]);
  const open = stored.filter(({ state }) => state !== "done").map(idOf);
  // Leases of a shared file run out, and by this clock all of them have.
  const last = await startReceiver({ ...files, shared: true, clockAheadMs: 3_600_000 });
  await last.until(`the hand-off of what is left (${hint})`, areHandedOff(open));
  expect(await last.end("SIGTERM"), hint).toBe(0);

  const begun = readLog(files.log);
  expect(
    missing(
      stored.map(idOf),
      begun.map(({ id }) => id),
    ),
    hint,
  ).toEqual([]);
  expect(unflaggedRepeats(begun), hint).toEqual([]);
  expect(new Set(readRows(files.db).map(({ state }) => state)), hint).toEqual(new Set(["done"]));
  // Without an event in hand at a kill the test would show nothing.
  const flags = begun.map(({ possiblyRepeated }) => possiblyRepeated);
  expect(flags, hint).toContain(true);
});

test("the same check catches a store that acknowledges before it commits", async () => {
  const files = inboxFiles();
  const lost: string[] = [];
  // On a busy machine the commit is often quicker than the kill.
  for (let kills = 0; kills < 30 && lost.length === 0; kills += 1) {
    const acknowledged = await killUnderLoad(
      { ...files, fault: "acknowledge before commit" },
      1,
      1,
    );
    lost.push(...missing(acknowledged, readRows(files.db).map(idOf)));
  }
  expect(lost, `FAULT_SEED=${SEED}`).not.toEqual([]);
});
