import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { areHandedOff, startChild, startReceiver } from "../child-process.js";
import { inboxFiles, readLog, readRows, unflaggedRepeats, type Row } from "../inbox-file.js";
import { systemClock } from "../../../src/time/clock.js";
import { batchOf, newEvent, opened } from "../../unit/inbox/new-event.js";
import { eventThat } from "../sender.js";

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
