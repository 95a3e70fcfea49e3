import { afterAll, beforeAll, expect, onTestFinished, vi } from "vitest";
import { testWith } from "../../prerequisites.js";
import { canPreload } from "../preload/compile.js";
import { SEED, seededRandom } from "../seeded-random.js";
import { cutPointsOf, someOf, type CutPoints } from "./cut-points.js";
import { expectToGoOn } from "./open-store.js";
import { overlapsOf } from "./overlaps.js";
import { cutPower, cutsAt, type Findings, type PowerCut } from "./power-cuts.js";
import type { Call, Syncer } from "./read-recording.js";
import { INBOX, recorderFolders, type RecorderFolders } from "./recorder.js";
import { recordRuns } from "./recording.js";
import {
  allButAFewSectors,
  aPrefix,
  EVERYTHING,
  NOTHING,
  someSectors,
  someWrites,
  type Luck,
} from "./survivors.js";

// What a receiver does to its files is recorded call by call. Then the power is cut at many moments
// of that recording, and for each a disk is put together as it could be found when the power is
// back: with all that was synced, and with none, all or some of what was not.

// Hundreds of states on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const testRecorded = testWith(canPreload);
const random = seededRandom(SEED);
const HINT = `FAULT_SEED=${SEED}`;

/** Two receivers on one store: the one commits while the other's commit is synced. */
const BUSY = { from: 1, to: 100_000, connections: 4, endpoints: ["default", "other"] };
/**
 * One receiver that commits while its last commit is synced. It does so once the first 16 syncs
 * have shown how long one takes. A sync is so slow that also on a busy machine the next batch is
 * there before its end.
 */
const OVERLAPPING = { from: 1, to: 3000, connections: 64, syncMicroseconds: 25_000 };

let folders: RecorderFolders;
let calls: Call[];
let points: CutPoints;

beforeAll(async () => {
  if (!canPreload) return;
  folders = recorderFolders();
  // Killed under load, while the next start writes the WAL into the file, and in a checkpoint under
  // load. Each sends again what the one before had no answer to, and more. The last one closes.
  calls = await recordRuns(folders, [
    { ...BUSY, connections: 2, kill: { call: "write", file: "-wal", nth: 13001, side: "after" } },
    {
      ...BUSY,
      from: 700,
      connections: 2,
      kill: { call: "write", file: "inbox.db", nth: 9, side: "halfway" },
    },
    {
      ...BUSY,
      from: 700,
      connections: 3,
      kill: { call: "truncate", file: "inbox.db", nth: 2, side: "before" },
    },
    { ...BUSY, from: 900, to: 1100, connections: 8 },
    { ...OVERLAPPING, from: 200_000, to: 203_000 },
    { ...OVERLAPPING, from: 202_900, to: 206_000, isReversed: true },
  ]);
  points = cutPointsOf(calls);
});

afterAll(() => folders?.remove());

function anyLuck(): Luck[] {
  return [
    NOTHING,
    EVERYTHING,
    aPrefix(random),
    someWrites(random),
    someSectors(random),
    allButAFewSectors(random),
  ];
}

function some(kind: keyof CutPoints, count: number): number[] {
  return someOf(points[kind], count, random);
}

/** The worst moments, with nothing unsynced on the disk. */
function worstCuts(count: number): PowerCut[] {
  return cutsAt(some("beforeSyncs", count), [NOTHING]);
}

function lostIn({ damaged }: Findings): number {
  return damaged.filter(({ damage }) => damage.lost.length > 0 && damage.corrupt === null).length;
}

function corruptIn({ damaged }: Findings): number {
  return damaged.filter(({ damage }) => damage.corrupt !== null).length;
}

testRecorded(
  "whatever a power cut leaves, nothing that was said before is untrue afterwards",
  async () => {
    const cuts = [
      ...worstCuts(40),
      ...cutsAt(some("checkpoints", 6), anyLuck()),
      ...cutsAt(some("restarts", 4), anyLuck()),
      ...cutsAt(some("others", 4), anyLuck()),
    ];
    const found = await cutPower(calls, cuts, {
      scratch: folders.scratch,
      alsoOpen: async (folder, ledger, state) => {
        if (state % 10 === 0) await expectToGoOn(folder, ledger);
      },
    });
    expect(found.damaged, HINT).toEqual([]);
  },
);

testRecorded("a power cut while the inbox is made leaves what the next start can use", async () => {
  const found = await cutPower(calls, cutsAt(some("making", 8), anyLuck()), {
    scratch: folders.scratch,
    alsoOpen: async (folder, ledger, state) => {
      if (state % 4 === 0) await expectToGoOn(folder, ledger);
    },
  });
  expect(found.damaged, HINT).toEqual([]);
});

testRecorded("the record has what it must have", () => {
  const restarts = calls.filter(
    (call) => call.kind === "write" && call.name === `${INBOX}-wal` && call.offset === 0,
  );
  // One for each of three starts: the others were under load.
  expect(restarts.length, HINT).toBeGreaterThan(4);
  // Else all would hold for one commit at a time. A busy machine may end the overlaps after the
  // trial of 16.
  const overlaps = overlapsOf(calls).slice(-2);
  expect(
    Math.min(...overlaps.map(({ inOrder, reversed }) => inOrder + reversed)),
    HINT,
  ).toBeGreaterThan(1);
  expect(Math.min(overlaps[0]?.inOrder ?? 0, overlaps[1]?.reversed ?? 0), HINT).toBeGreaterThan(0);
  expect(
    Math.min(...Object.values(points).map(({ length }: number[]) => length)),
    HINT,
  ).toBeGreaterThan(5);
});

interface LyingDisk {
  isSync: (by: Syncer, name: string) => boolean;
  finds: ("loss" | "corruption")[];
}

testRecorded.each<[string, LyingDisk]>([
  ["does not make our syncs", { isSync: (by) => by === "sqlite", finds: ["loss"] }],
  [
    "does not make SQLite's own syncs",
    { isSync: (by) => by === "signalbox", finds: ["corruption"] },
  ],
  [
    "syncs names alone",
    { isSync: (_, name) => !name.startsWith(INBOX), finds: ["loss", "corruption"] },
  ],
  ["does not keep names", { isSync: (_, name) => name.startsWith(INBOX), finds: ["loss"] }],
])("the same check catches a disk that %s", async (_lie, { isSync, finds }) => {
  const cuts = [
    ...worstCuts(20),
    ...cutsAt(some("checkpoints", 10), [someWrites(random), someSectors(random)]),
  ];
  const found = await cutPower(calls, cuts, { scratch: folders.scratch, isSync });
  if (finds.includes("loss")) expect(lostIn(found), HINT).toBeGreaterThan(0);
  if (finds.includes("corruption")) expect(corruptIn(found), HINT).toBeGreaterThan(0);
});

/** A recording of a test's own. */
async function recordOwn(runs: Parameters<typeof recordRuns>[1], isFolderThere = true) {
  const at = recorderFolders();
  onTestFinished(() => at.remove());
  const record = await recordRuns(at, runs, isFolderThere);
  return {
    record,
    own: cutPointsOf(record),
    /** Where a sync failed. */
    failures: record.flatMap(({ kind }, index) => (kind === "sync failed" ? [index] : [])),
    cut: (cuts: readonly PowerCut[]) =>
      cutPower(record, cuts, { scratch: at.scratch, isFolderThere }),
  };
}

testRecorded("the same check catches a receiver that answers before the sync", async () => {
  const fault = "acknowledge before the sync";
  const early = await recordOwn([{ from: 1, to: 60, connections: 2, fault }]);
  const found = await early.cut(cutsAt(early.own.beforeSyncs, [NOTHING]));
  expect(lostIn(found)).toBeGreaterThan(0);
});

/**
 * One of two syncs that overlap fails: the one that ends first, which is the earlier or the later
 * one. The power is cut at all that is said until some time after the failure. The 17th to the 32nd
 * sync overlap on every machine: by these, the store finds out whether more should.
 */
async function findBehindFailure(over: object): Promise<Findings> {
  const { own, failures, cut } = await recordOwn([{ ...OVERLAPPING, failBeside: 20, ...over }]);
  expect(failures).toHaveLength(1);
  const [failedAt = 0] = failures;
  const behind = own.beforeSyncs.filter((at) => at >= failedAt).slice(0, 20);
  return cut([
    ...cutsAt(behind, [NOTHING]),
    ...cutsAt([failedAt, failedAt + 1, failedAt + 2], anyLuck()),
  ]);
}

testRecorded.each([
  ["the earlier one", false],
  ["the later one", true],
])(
  "nothing is lost when of two syncs at the same time %s fails first",
  async (_which, isReversed) => {
    expect((await findBehindFailure({ isReversed })).damaged, HINT).toEqual([]);
  },
);

testRecorded(
  "the same check catches a store that answers a commit before the syncs of the earlier ones",
  async () => {
    const found = await findBehindFailure({ fault: "answer by its own sync" });
    expect(lostIn(found), HINT).toBeGreaterThan(0);
  },
);

testRecorded(
  "nothing is lost when a sync fails, nor when the process dies while it rewrites the WAL behind that",
  async () => {
    // So many at once that the commit whose sync fails has many pages.
    const load = { ...BUSY, from: 90, to: 1000, connections: 200 };
    const { own, failures, cut } = await recordOwn([
      { ...BUSY, to: 100, failSync: 40 },
      load,
      // What the failed sync should have kept, the kernel still shows.
      {
        ...load,
        from: 950,
        to: 1500,
        failSync: 3,
        kill: { call: "write", file: "inbox.db", nth: 1, side: "before" },
      },
      { ...load, from: 950, to: 1500 },
    ]);
    expect(failures).toHaveLength(2);
    // Few of all checkpoints: those in which the WAL behind a failed sync is copied.
    const rewrites = failures.map((failed) =>
      own.checkpoints
        .filter((at) => at > failed)
        .filter((at, index, behind) => at === (behind[0] ?? 0) + index),
    );
    const copies = rewrites.flatMap((each) => someOf(each, 4, random));
    const found = await cut([
      ...cutsAt(someOf(own.beforeSyncs, 40, random), [NOTHING]),
      ...cutsAt(copies, anyLuck()),
    ]);
    expect(found.damaged, HINT).toEqual([]);
  },
);

testRecorded(
  "what is committed while the file is written anew is acknowledged when that is done, not before",
  async () => {
    const script = "commit-while-rewritten.mjs";
    const run = { ...BUSY, script, failSync: 2, syncMicroseconds: 100_000 };
    const { record, cut } = await recordOwn([run]);
    const found = await cut(cutsAt([...record.keys()], [NOTHING]));
    expect(found.damaged.map(({ cut: at, damage }) => `${at}: ${damage.lost.join()}`)).toEqual([]);
  },
);

testRecorded.each([
  ["the earlier of two fails first", false],
  ["the later of two fails first", true],
])(
  "a store that is closed after a failed sync is not damaged by a power cut: %s",
  async (_which, isReversed) => {
    const run = { connections: 1, script: "close-after-failed-sync.mjs" };
    const failing = { isReversed, failBeside: 1, syncMicroseconds: 100_000 };
    const { record, failures, cut } = await recordOwn([
      { ...run, from: 1, to: 500 },
      { ...run, from: 500, to: 520, ...failing },
    ]);
    const [failedAt = 0] = failures;
    expect(failedAt).toBeGreaterThan(0);
    const after = [...record.keys()].filter((at) => at >= failedAt);
    const found = await cut(cutsAt(someOf(after, 40, random), anyLuck()));
    expect(found.damaged, HINT).toEqual([]);
  },
);

testRecorded("a folder that the receiver made is not lost with what is in it", async () => {
  const first = await recordOwn([{ from: 1, to: 20, connections: 2 }], false);
  const found = await first.cut(cutsAt(first.own.beforeSyncs, [NOTHING]));
  expect(found.damaged).toEqual([]);
});
