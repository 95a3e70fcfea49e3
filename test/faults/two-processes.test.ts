import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { areHandedOff, startReceiver, type Child } from "./child-process.js";
import { inboxFiles, openReader, readLog } from "./inbox-file.js";
import { eventThat, send } from "./sender.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const NEW = `{"received":true}`;
const DUPLICATE = `{"received":true,"duplicate":true}`;

async function startTwo(files: { db: string; log: string }): Promise<[Child, Child]> {
  const config = { ...files, shared: true, handoff: { maxAttempts: 2 } };
  return [await startReceiver(config), await startReceiver(config)];
}

async function stop(...children: Child[]): Promise<void> {
  for (const child of children) child.kill("SIGTERM");
  for (const child of children) expect(await child.exited).toBe(0);
}

test("one id sent 200 times at once to two processes is one row, one hand-off, one first answer", async () => {
  const files = inboxFiles();
  const [first, second] = await startTwo(files);
  const reader = openReader(files.db);
  const events = ["one", "two", "three"].map((id) => eventThat("fine", id));

  for (const event of events) {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const answer = await send(index % 2 === 0 ? first.port : second.port, event);
        return { ...answer, rowsAtAnswer: reader.count(event.id) };
      }),
    );
    const counts = new Map<string, number>();
    for (const { status, body, rowsAtAnswer } of answers) {
      const kind = `${status} ${body}, ${rowsAtAnswer} row`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({ [`200 ${NEW}, 1 row`]: 1, [`200 ${DUPLICATE}, 1 row`]: 199 });
    await Promise.any([first, second].map((child) => child.until("the hand-off", areHandedOff([event.id]))));
  }

  reader.close();
  await stop(first, second);
  expect(readLog(files.log)).toEqual(events.map(({ id }) => ({ id, possiblyRepeated: false, attempt: 1 })));
});

test("no delivery is answered before the row is committed, neither the first nor a duplicate", async () => {
  const files = inboxFiles();
  const [first, second] = await startTwo(files);
  const event = eventThat("fine");
  // Nothing can be committed while another process writes.
  const writer = new Database(files.db, { fileMustExist: true });
  writer.exec("BEGIN IMMEDIATE");

  let answered = 0;
  const sent = [first, first, first, second, second, second].map(async ({ port }) => {
    const answer = await send(port, event);
    answered += 1;
    return answer.body;
  });
  for (const child of [first, second]) {
    await child.until("three requests", (lines) => lines.filter(({ say }) => say === "request").length === 3);
    // These need no commit. What is answered before them without one would be answered by now.
    const challenge = { ...event, type: "webhook.verification", data: { challenge: "prove it" } };
    for (let turn = 0; turn < 3; turn++) {
      expect(await send(child.port, challenge)).toEqual({ status: 200, body: `{"challenge":"prove it"}` });
    }
  }
  expect(answered).toBe(0);

  writer.exec("ROLLBACK");
  writer.close();
  expect((await Promise.all(sent)).sort()).toEqual([...Array(5).fill(DUPLICATE), NEW]);
  await stop(first, second);
});

test("what a killed process had in hand is left alone while its lease runs, and taken over after that", async () => {
  const files = inboxFiles();
  const [first, second] = await startTwo(files);
  const event = eventThat("hangs");
  expect((await send(first.port, event)).body).toBe(NEW);
  await first.until("the callback", (lines) => lines.some(({ say }) => say === "begun"));
  first.kill("SIGKILL");
  expect(await first.exited).toBe("SIGKILL");

  // A second attempt is claimed from the file, so by then the other has looked for what it may take.
  const own = eventThat("rejects");
  expect((await send(second.port, own)).body).toBe(NEW);
  await second.until("its own event to be dead", (lines) => lines.some(({ say }) => say === "dead"));
  expect(readLog(files.log).filter(({ id }) => id === event.id)).toHaveLength(1);

  const late = await startReceiver({ ...files, shared: true, clockAheadMs: 3_600_000 });
  await late.until("the callback", (lines) => lines.some(({ say }) => say === "begun"));
  expect(late.lines).toContainEqual({
    say: "begun",
    id: event.id,
    possiblyRepeated: true,
    replayed: false,
    attempt: 1,
  });
  await stop(second, late);
});
