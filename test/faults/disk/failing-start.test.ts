import { expect } from "vitest";
import { areHandedOff, startChild, startReceiver } from "../child-process.js";
import { expectEachOnce, idsIn, sendAll, some } from "../deliveries.js";
import { inboxFiles } from "../inbox-file.js";
import { ioFaults, type IoFault } from "./io-faults.js";
import { canPreload } from "../preload/compile.js";
import { testWith } from "../../prerequisites.js";

const testOnLinux = testWith(canPreload);

const WAL = "inbox.db-wal";
const DB = "inbox.db";

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
    receiver.kill("SIGKILL");
    await receiver.exited;

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
