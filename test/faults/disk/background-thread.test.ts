import { expect, test } from "vitest";
import type { SignalEvent } from "../../../src/kit/index.js";
import { testWith } from "../../prerequisites.js";
import { areHandedOff, startReceiver } from "../child-process.js";
import { expectEachOnce, idsIn, sendAll, sendPages, some, walPages } from "../deliveries.js";
import { inboxFiles } from "../inbox-file.js";
import { canPreload } from "../preload/compile.js";
import { startFaulty } from "./io-faults.js";

const testOnLinux = testWith(canPreload);

/** What makes the store's thread die in each task of this name. */
function diesIn(task: string): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import ${new URL("../children/thread-that-dies.mjs", import.meta.url).href}`,
    DIES_IN: task,
  };
}

testOnLinux.each(["dies in checkpoint", "dies in restartWal", "cannot open the file"])(
  "a thread that %s stops no delivery, and the WAL stays short",
  async (what) => {
    const [, task] = /^dies in (.*)/.exec(what) ?? [];
    const { files, faults, receiver } = await startFaulty(task === undefined ? {} : diesIn(task));
    const failed =
      task === undefined ? faults.strike({ call: "open", file: "inbox.db", error: "EIO" }) : null;
    const taken: SignalEvent[] = [];
    // So much that the WAL would be as long if it never began anew.
    for (let pages = 0; pages < 8500; pages += 250) taken.push(...(await sendPages(receiver)));
    await receiver.until("the hand-offs", areHandedOff(idsIn(taken)));
    if (failed !== null) expect(failed()).toBeGreaterThan(0);
    else expect(receiver.stderr()).toContain(what);
    expect(walPages(files)).toBeLessThan(7000);
    await expectEachOnce(receiver, files, taken);
  },
);

testOnLinux(
  "a thread that dies while a failed sync is made up for: 503, and then it goes on",
  async () => {
    const { files, faults, receiver } = await startFaulty(diesIn("rewrite"));
    const failed = faults.strike({
      call: "fdatasync",
      file: "inbox.db-wal",
      error: "EIO",
      times: 1,
    });
    const rewritten = faults.strike({ call: "fsync", file: "inbox.db", error: "none" });
    const [event] = some(1) as [SignalEvent];
    expect((await sendAll(receiver.port, [event])).taken).toEqual([]);
    let answers = await sendAll(receiver.port, [event]);
    if (answers.taken.length === 0) answers = await sendAll(receiver.port, [event]);
    expect(idsIn(answers.taken)).toEqual([event.id]);
    expect(receiver.stderr()).toContain("dies in rewrite");
    expect([failed(), rewritten() > 0]).toEqual([1, true]);
    await expectEachOnce(receiver, files, [event]);
  },
);

test.each(["quickCheck", "rewrite"])(
  "a thread that dies in the %s task of a start after a crash does not stop it",
  async (task) => {
    const files = inboxFiles();
    const first = await startReceiver(files);
    const { taken } = await sendAll(first.port, some(5));
    await first.until("the hand-offs", areHandedOff(idsIn(taken)));
    await first.end("SIGKILL");
    const next = await startReceiver(files, diesIn(task));
    expect(next.stderr()).toContain(`dies in ${task}`);
    const again = await sendAll(next.port, some(1));
    await expectEachOnce(next, files, again.taken, taken);
  },
);
