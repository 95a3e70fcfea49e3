import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { startChild, startReceiver } from "../child-process.js";
import { expectEachOnce, sendAll, some } from "../deliveries.js";
import { bindMount, canMount } from "../disk/small-disk.js";
import { inboxFiles } from "../inbox-file.js";

interface Opener {
  /** @returns what it says */
  tell(order: { path?: string; shared?: boolean }): Promise<string>;
}

async function startOpener(): Promise<Opener> {
  const script = new URL("../children/opener.mjs", import.meta.url).pathname;
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error("an opener ended");
    return value;
  };
  expect(await nextLine()).toBe("ready");
  return {
    tell(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return nextLine();
    },
  };
}

const ROUNDS = 30;

test("of three processes that open one file in the same moment, exactly one owns it, each time", async () => {
  const openers = await Promise.all([startOpener(), startOpener(), startOpener()]);
  const old = inboxFiles().db;
  const winners = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    // In turn one that is there already and one that has to be made.
    const path = round % 2 === 0 ? old : `${old}-${round}`;
    const said = await Promise.all(openers.map((opener) => opener.tell({ path })));
    expect([...said].sort(), `round ${round}`).toEqual(["open", "store_in_use", "store_in_use"]);
    winners.add(said.indexOf("open"));
    expect(await Promise.all(openers.map((opener) => opener.tell({})))).toEqual([
      "closed",
      "closed",
      "closed",
    ]);
  }
  // If it were always the same one there would be no race.
  expect(winners.size).toBeGreaterThan(1);
});

test("of three processes that share one file all get in, also when it has to be made", async () => {
  const openers = await Promise.all([startOpener(), startOpener(), startOpener()]);
  const { db } = inboxFiles();
  for (let round = 0; round < ROUNDS; round++) {
    const order = { path: `${db}-${Math.floor(round / 2)}`, shared: true };
    const said = await Promise.all(openers.map((opener) => opener.tell(order)));
    expect(said, `round ${round}`).toEqual(["open", "open", "open"]);
    await Promise.all(openers.map((opener) => opener.tell({})));
  }
});

const testWithMount = test.skipIf(!canMount && process.env["CI"] === undefined);

testWithMount(
  "a receiver that would open another one's file by a mount of the file is refused",
  async () => {
    const files = inboxFiles();
    const receiver = await startReceiver(files);
    const mounted = `${files.db}-mounted`;
    bindMount(files.db, mounted);
    const second = startChild({ ...files, db: mounted });
    expect(await second.exited).toBe(0);
    expect(second.lines).toEqual([{ say: "refused", code: "store_unsupported" }]);
    const { taken } = await sendAll(receiver.port, some(5));
    expect(taken).toHaveLength(5);
    await expectEachOnce(receiver, files, taken);
  },
);
