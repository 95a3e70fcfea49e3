import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { testWith } from "../../prerequisites.js";
import {
  INBOX,
  recorderFolders,
  runRecorded,
  type KillPoint,
  type RecorderFolders,
} from "../power-loss/recorder.js";
import { damageAfterStart, ledgerOf } from "../power-loss/start-again.js";
import { canPreload } from "../preload/compile.js";
import { SEED, seededRandom } from "../seeded-random.js";

// Other than a kill at a random moment, these hit each kind of call that changes a file or makes it
// durable: right before it, halfway through the bytes, right after it. What was written is there,
// since the machine goes on. That the check of what is found can fail is seen in power-loss.test.ts.

// Dozens of processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const testRecorded = testWith(canPreload);
const random = seededRandom(SEED);
const SIDES = ["before", "halfway", "after"] as const;
const EDGES = ["before", "after"] as const;

/** Enough to get to any of the points. */
const ENDLESS = 100_000;

/** On one of these sides, by chance. */
function at(
  call: KillPoint["call"],
  file: KillPoint["file"],
  nth: number,
  sides: readonly [KillPoint["side"], ...KillPoint["side"][]],
): KillPoint {
  return { call, file, nth, side: sides[between(0, sides.length)] ?? sides[0] };
}

function between(low: number, high: number): number {
  return low + Math.floor(random() * (high - low));
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function newFolders(): RecorderFolders {
  const folders = recorderFolders();
  onTestFinished(() => folders.remove());
  mkdirSync(join(folders.recorded, dirname(INBOX)));
  return folders;
}

/** The sender goes on where it was, and repeats the last few. */
function nextEvent(folders: RecorderFolders): number {
  const numbers = [...ledgerOf(folders).acknowledged.keys()].map((id) =>
    Number(id.slice("sig_".length)),
  );
  return Math.max(1, ...numbers.map((number) => number - 10));
}

const NO_DAMAGE = { lost: [], forgotten: [], unflagged: [], repeated: [], corrupt: null };

/** @returns what is found by the next start */
async function killAt(
  folders: RecorderFolders,
  kill: KillPoint,
  from = 1,
  to = ENDLESS,
): Promise<object> {
  const how = await runRecorded(folders, { from, to, connections: 4 }, { kill });
  expect(how, hintOf(kill)).toBe("killed");
  return damageAfterStart(folders);
}

function hintOf({ call, file, nth, side }: KillPoint): string {
  return `FAULT_SEED=${SEED}, killed ${side} ${call} ${nth} of ${file}`;
}

testRecorded("killed at any call that makes the inbox, it is made by the next start", async () => {
  const folders = newFolders();
  const points = [
    at("create", "inbox.db", 1, ["after"]),
    at("create", "-journal", 1, ["after"]),
    at("write", "-journal", 1, ["halfway", "after"]),
    at("sync", "-journal", 2, EDGES),
    at("write", "inbox.db", 1, SIDES),
    at("sync", "inbox.db", 1, ["after"]),
    at("unlink", "-journal", 1, EDGES),
    at("write", "-wal", 1, SIDES),
    at("sync", "-wal", between(1, 3), EDGES),
  ];
  for (const kill of points) {
    rmSync(folders.recorded, { recursive: true });
    mkdirSync(join(folders.recorded, dirname(INBOX)), { recursive: true });
    expect(await killAt(folders, kill), hintOf(kill)).toEqual(NO_DAMAGE);
    expect(ledgerOf(folders).acknowledged.size, hintOf(kill)).toBe(0);
  }
});

testRecorded(
  "killed again and again at any call on its files, it loses nothing and flags every repeat",
  async () => {
    const folders = newFolders();
    const underLoad = [
      at("write", "-wal", between(25, 1000), SIDES),
      at("sync", "-wal", between(5, 80), EDGES),
      // In a checkpoint.
      at("write", "inbox.db", 1200, SIDES),
      at("sync", "inbox.db", 2, EDGES),
    ];
    // While a start writes the WAL of a killed process into the file.
    const atStart = [
      at("write", "inbox.db", between(1, 6), SIDES),
      at("sync", "inbox.db", 1, EDGES),
      at("truncate", "-wal", 1, EDGES),
    ];
    const leavesWal = at("write", "-wal", between(25, 60), ["after"]);
    for (const kill of shuffled([...underLoad, ...atStart])) {
      if (atStart.includes(kill)) await killAt(folders, leavesWal, nextEvent(folders));
      expect(await killAt(folders, kill, nextEvent(folders)), hintOf(kill)).toEqual(NO_DAMAGE);
    }
    // A close ends with the WAL's removal.
    const atClose = at("unlink", "-wal", 1, EDGES);
    const from = nextEvent(folders);
    expect(await killAt(folders, atClose, from, from + 30), hintOf(atClose)).toEqual(NO_DAMAGE);
    // Else there would be nothing to lose.
    expect(ledgerOf(folders).acknowledged.size).toBeGreaterThan(200);
  },
);
