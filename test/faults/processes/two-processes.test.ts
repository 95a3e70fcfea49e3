import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { areHandedOff, startReceiver, type Child } from "../child-process.js";
import { inboxFiles, openReader, readLog } from "../inbox-file.js";
import { eventThat, send } from "../sender.js";

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

test("one id sent twenty times at once to two processes is one row, one hand-off, one first answer", async () => {
  const files = inboxFiles();
  const [first, second] = await startTwo(files);
  const reader = openReader(files.db);
  const events = ["one", "two", "three"].map((id) => eventThat("fine", id));

  for (const event of events) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer = await send(index % 2 === 0 ? first.port : second.port, event);
        return { ...answer, rowsAtAnswer: reader.count(event.id) };
      }),
    );
    const counts = new Map<string, number>();
    for (const { status, body, rowsAtAnswer } of answers) {
      const kind = `${status} ${body}, ${rowsAtAnswer} row`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({
      [`200 ${NEW}, 1 row`]: 1,
      [`200 ${DUPLICATE}, 1 row`]: 19,
    });
    await Promise.any(
      [first, second].map((child) => child.until("the hand-off", areHandedOff([event.id]))),
    );
  }

  reader.close();
  await stop(first, second);
  expect(readLog(files.log)).toEqual(
    events.map(({ id }) => ({ id, possiblyRepeated: false, attempt: 1 })),
  );
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
    await child.until(
      "three requests",
      (lines) => lines.filter(({ say }) => say === "request").length === 3,
    );
    // These need no commit. What is answered before them without one would be answered by now.
    const challenge = { ...event, type: "webhook.verification", data: { challenge: "prove it" } };
    for (let turn = 0; turn < 3; turn++) {
      expect(await send(child.port, challenge)).toEqual({
        status: 200,
        body: `{"challenge":"prove it"}`,
      });
    }
  }
  expect(answered).toBe(0);

  writer.exec("ROLLBACK");
  writer.close();
  expect((await Promise.all(sent)).sort()).toEqual([...Array(5).fill(DUPLICATE), NEW]);
  await stop(first, second);
});
