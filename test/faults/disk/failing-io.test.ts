import { expect } from "vitest";
import { testWith } from "../../prerequisites.js";
import { areHandedOff, idsOf, startChild, startReceiver } from "../child-process.js";
import { expectEachOnce, idsIn, sendAll, some, untilHealth } from "../deliveries.js";
import { inboxFiles } from "../inbox-file.js";
import { canPreload } from "../preload/compile.js";
import { eventThat, healthOf, send } from "../sender.js";
import { ioFaults, startFaulty, type IoFault } from "./io-faults.js";

const testOnLinux = testWith(canPreload);

const WAL = "inbox.db-wal";
const DB = "inbox.db";

testOnLinux(
  "one sync of the WAL fails: its batch gets 503, and all is rewritten before the next answer",
  async () => {
    const { files, faults, receiver } = await startFaulty();
    const before = await sendAll(receiver.port, some(20));
    expect(idsIn(before.refused)).toEqual([]);
    // Their settlements need syncs too.
    await receiver.until("the hand-offs", areHandedOff(idsIn(before.taken)));

    const failed = faults.strike({ call: "fdatasync", file: WAL, error: "EIO", times: 1 });
    const rewritten = faults.strike({ call: "fsync", file: DB, error: "none" });
    const [alone] = some(1);
    expect((await send(receiver.port, alone!)).status).toBe(503);
    expect(failed()).toBe(1);
    const after = await sendAll(receiver.port, [...some(20), alone!]);
    expect(idsIn(after.refused)).toEqual([]);
    expect(rewritten()).toBeGreaterThan(0);
    expect(await healthOf(receiver.port)).toMatchObject({ ok: true, store: { failure: null } });
    await expectEachOnce(receiver, files, [...before.taken, ...after.taken]);
  },
);

const FOR_EVER: readonly (readonly [
  what: string,
  code: string | RegExp,
  faults: readonly IoFault[],
])[] = [
  ["no sync of the WAL works", "store_failed", [{ call: "fdatasync", file: WAL, error: "EIO" }]],
  [
    "a sync failed and SQLite cannot sync the WAL",
    "store_failed",
    [
      { call: "fdatasync", file: WAL, error: "EIO", times: 1 },
      { call: "fsync", file: WAL, error: "EIO" },
    ],
  ],
  [
    "a sync failed and the database cannot be written",
    "store_failed",
    [
      { call: "fdatasync", file: WAL, error: "EIO", times: 1 },
      { call: "pwrite", file: DB, error: "EIO" },
    ],
  ],
  [
    "a sync failed and the WAL cannot be read back",
    // SQLite takes bytes that the disk does not give for damage, or not: it depends on whose they
    // are.
    /^store_(failed|corrupt)$/,
    [
      { call: "fdatasync", file: WAL, error: "EIO", times: 1 },
      { call: "pread", file: WAL, error: "EIO" },
    ],
  ],
  [
    "the file system became read-only",
    "store_failed",
    [{ call: "pwrite", file: WAL, error: "EROFS" }],
  ],
];

testOnLinux.each(FOR_EVER)(
  "%s: 503 for all, red, alive, and it goes on by itself once that is over",
  async (_what, code, list) => {
    const { files, faults, receiver } = await startFaulty();
    const [waiting, ...first] = [eventThat("waits"), ...some(5)];
    expect((await sendAll(receiver.port, [waiting, ...first])).refused).toEqual([]);
    await receiver.until("the callback", (lines) => idsOf(lines, "begun").includes(waiting.id));

    const hits = list.map((fault) => faults.strike(fault));
    const refused = some(12);
    for (let round = 0; round < 3; round++) {
      const answers = await sendAll(receiver.port, refused.slice(round * 4, round * 4 + 4));
      expect(idsIn(answers.taken)).toEqual([]);
      expect(await healthOf(receiver.port)).toMatchObject({
        ok: false,
        state: "running",
        store: { failure: expect.stringMatching(code) as string },
      });
    }
    for (const count of hits) expect(count()).toBeGreaterThan(0);
    // A callback comes to its end meanwhile; that cannot be written now and must not be forgotten.
    receiver.kill("SIGUSR2");
    await untilHealth(receiver.port, ({ running }) => running === 0);
    refused.push(...some(1));
    expect((await sendAll(receiver.port, refused.slice(-1))).taken).toEqual([]);
    expect(idsOf(receiver.lines, "handedOff")).not.toContain(waiting.id);

    faults.heal();
    const after = await sendAll(receiver.port, [...refused, ...some(5)]);
    expect(idsIn(after.refused)).toEqual([]);
    expect(await healthOf(receiver.port)).toMatchObject({ ok: true, store: { failure: null } });
    await expectEachOnce(receiver, files, [waiting, ...first, ...after.taken]);
  },
);

testOnLinux.each([
  ["the WAL cannot be read", { call: "pread", file: WAL, error: "EIO" }],
  ["the database cannot be written", { call: "pwrite", file: DB, error: "EIO" }],
  ["the database cannot be synced", { call: "fsync", file: DB, error: "EIO" }],
] as const satisfies readonly (readonly [string, IoFault])[])(
  "after a crash, %s: the start is refused, and the next one finds all that was acknowledged",
  async (_what, fault) => {
    const files = inboxFiles();
    const faults = ioFaults();
    const receiver = await startReceiver(files);
    const { taken } = await sendAll(receiver.port, some(20));
    expect(taken).toHaveLength(20);
    await receiver.until("the hand-offs", areHandedOff(idsIn(taken)));
    await receiver.end("SIGKILL");

    const failed = faults.strike(fault);
    const refused = startChild(files, faults.env);
    expect(await refused.exited).toBe(0);
    expect(refused.lines).toEqual([
      { say: "refused", code: expect.stringMatching(/^store_(failed|corrupt)$/) as string },
    ]);
    expect(failed()).toBeGreaterThan(0);
    const next = await startReceiver(files);
    const again = await sendAll(next.port, some(1));
    await expectEachOnce(next, files, again.taken, taken);
  },
);
