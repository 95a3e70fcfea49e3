import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { areHandedOff, idsOf, startChild, startReceiver } from "../child-process.js";
import { inboxFiles, readLog, readRows, unflaggedRepeats, type Row } from "../inbox-file.js";
import { systemClock } from "../../../src/time/clock.js";
import { batchOf, newEvent, opened } from "../../unit/inbox/new-event.js";
import { eventThat, isAcknowledged, send } from "../sender.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const COMMAND = new URL("../../../dist/cli/main.js", import.meta.url).pathname;

/** As a person does it, in another process, while the receiver runs. */
async function retryFromTheCommandLine(db: string, id: string): Promise<void> {
  await promisify(execFile)(process.execPath, [COMMAND, "inbox", "retry", id, "--db", db]);
}

function rowsById(db: string): Map<string, Row> {
  return new Map(readRows(db).map((row) => [row.event_id, row]));
}

test("callbacks that throw, reject, hang or give up delay no other, and their events end dead and can be retried", async () => {
  const files = inboxFiles();
  const receiver = await startReceiver({ ...files, handoff: { timeoutMs: 300, maxAttempts: 2, concurrency: 4 } });
  const poison = [eventThat("throws"), eventThat("rejects"), eventThat("hangs"), eventThat("gives up")];
  const good = Array.from({ length: 100 }, () => eventThat("fine"));
  const answers = await Promise.all([...poison, ...good].map((event) => send(receiver.port, event)));
  expect(answers.filter(isAcknowledged)).toHaveLength(104);

  await receiver.until("all good ones", areHandedOff(good.map(({ id }) => id)));
  await receiver.until("the poison to be dead", (lines) => idsOf(lines, "dead").length === poison.length);
  const dead = receiver.lines.filter((line) => line.say === "dead");
  const reasons = new Map(dead.map(({ id, reason }) => [id, reason]));
  expect(poison.map(({ id }) => reasons.get(id))).toEqual([
    "attempts_exhausted",
    "attempts_exhausted",
    "attempts_exhausted",
    "permanent_failure",
  ]);
  const rows = rowsById(files.db);
  expect(poison.map(({ id }) => rows.get(id))).toMatchObject([
    {
      state: "dead",
      attempts: 2,
      last_error: expect.stringMatching(/^Error: thrown before the first await\n/) as string,
    },
    { state: "dead", attempts: 2, last_error: expect.stringMatching(/^Error: the queue said no\n/) as string },
    { state: "dead", attempts: 2, last_error: expect.stringMatching(/^TimeoutError: /) as string },
    { state: "dead", attempts: 1 },
  ]);
  for (const event of poison) expect(rows.get(event.id)?.kept).toBe(JSON.stringify(event).length);

  // The cause is fixed, and a person retries while the receiver runs.
  writeFileSync(files.healedBy, "");
  for (const { id } of poison) await retryFromTheCommandLine(files.db, id);
  await receiver.until("the retried ones", areHandedOff(poison.map(({ id }) => id)));
  const replayed = receiver.lines.flatMap((line) => (line.say === "begun" && line.replayed ? [line.id] : []));
  expect(replayed.sort()).toEqual(poison.map(({ id }) => id).sort());
  receiver.kill("SIGTERM");
  expect(await receiver.exited).toBe(0);
});

/**
 * The delays after crashes are shorter in this file, so that the test need not wait for an hour: 200 times for the poison, which every crash
 * waits for, and 20 times for the others.
 */
function shortenDelays(db: string, poison: string): void {
  const file = new Database(db);
  file.exec(`CREATE TRIGGER short_delays AFTER UPDATE OF crashes ON inbox WHEN NEW.crashes > OLD.crashes AND NEW.state = 'ready'
    BEGIN UPDATE inbox SET due_at = ready_since + (due_at - ready_since) / iif(event_id = '${poison}', 200, 20)
    WHERE seq = NEW.seq; END`);
  file.close();
}

test("an event whose callback exits the process is dead after five crashes, and none of the 63 beside it is", async () => {
  const files = inboxFiles();
  const events = Array.from({ length: 64 }, (_, index) => eventThat(index === 8 ? "exits" : "fine"));
  const poison = events[8]!;
  const store = await opened(sqliteStore(files.db), systemClock);
  await store.commit(batchOf({ accepts: events.map((signal) => newEvent({ signal })) }));
  await store.close("default");
  shortenDelays(files.db, poison.id);

  for (let crash = 1; crash <= 5; crash++) {
    expect(rowsById(files.db).get(poison.id)?.state).not.toBe("dead");
    expect(await startChild(files).exited).toBe(3);
  }
  const last = await startReceiver(files);
  const others = events.filter(({ id }) => id !== poison.id);
  await last.until("all others to be done", () => {
    const rows = rowsById(files.db);
    return others.every(({ id }) => rows.get(id)?.state === "done");
  });
  const rows = rowsById(files.db);
  expect(rows.get(poison.id)).toEqual({
    event_id: poison.id,
    state: "dead",
    attempts: 0,
    crashes: 5,
    last_error: "crash_loop",
    kept: JSON.stringify(poison).length,
  });
  // All were in hand at the first two crashes.
  expect(Math.min(...others.map(({ id }) => rows.get(id)?.crashes ?? 0))).toBe(2);
  expect(unflaggedRepeats(readLog(files.log))).toEqual([]);

  writeFileSync(files.healedBy, "");
  await retryFromTheCommandLine(files.db, poison.id);
  await last.until("the healed poison", areHandedOff([poison.id]));
  expect(last.lines).toContainEqual({
    say: "begun",
    id: poison.id,
    possiblyRepeated: true,
    replayed: true,
    attempt: 1,
  });
});
