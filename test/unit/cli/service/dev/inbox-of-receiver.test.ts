import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createInboxOfReceiver } from "../../../../../src/cli/service/dev/receiver.js";
import { fillInbox } from "../../../../cli/fill-inbox.js";
import { listen } from "../../../../http/serve.js";
import { tempFolder } from "../../../temp-folder.js";

test("the inbox of dev is opened when it is asked for, and again when the user has made another one", async () => {
  const db = join(tempFolder(), "made/later/signals.db");
  const notes: string[] = [];
  const inbox = createInboxOfReceiver({ db }, (line) => notes.push(line));
  onTestFinished(() => inbox.close());
  const port = await listen(inbox.listener);
  const ask = async (id: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/event?id=${id}`);
    return { status: response.status, text: await response.text() };
  };
  expect(await ask("sig_1")).toMatchObject({
    status: 503,
    text: expect.stringContaining("there is no such file"),
  });
  mkdirSync(dirname(db), { recursive: true });
  renameSync(await fillInbox([{ eventId: "sig_1" }]), db);
  // The first one waits for the inbox, the second one for the first.
  expect((await Promise.all([ask("sig_1"), ask("sig_1")])).map(({ status }) => status)).toEqual([
    200, 200,
  ]);
  expect((await ask("sig_2")).status).toBe(404);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${db}${suffix}`, { force: true });
  renameSync(await fillInbox([{ eventId: "sig_2" }]), db);
  expect((await ask("sig_2")).status).toBe(200);
  expect(notes).toEqual([]);
});
