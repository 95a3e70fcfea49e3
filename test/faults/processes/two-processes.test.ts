import { expect, test } from "vitest";
import { openSqlite } from "../../open-sqlite.js";
import { startReceiver } from "../child-process.js";
import { inboxFiles } from "../inbox-file.js";
import { eventThat, send } from "../sender.js";

const NEW = `{"received":true}`;
const DUPLICATE = `{"received":true,"duplicate":true}`;

test("no delivery is answered before the row is committed, neither the first nor a duplicate", async () => {
  const files = inboxFiles();
  const start = () => startReceiver({ ...files, shared: true });
  const [first, second] = [await start(), await start()];
  const event = eventThat("fine");
  // Nothing can be committed while another process writes.
  const writer = openSqlite(files.db, { fileMustExist: true });
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
  for (const child of [first, second]) expect(await child.end("SIGTERM")).toBe(0);
});
