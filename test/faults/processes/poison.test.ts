import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import type { SignalEvent } from "../../../src/index.js";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import {
  areHandedOff,
  idsOf,
  isReady,
  startChild,
  startReceiver,
  type Child,
  type ChildConfig,
} from "../child-process.js";
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

/** Lets it live until it crashes or has nothing more to crash of; the poison may run before the port is open. */
async function startAndSend(files: ChildConfig, event: object): Promise<Child> {
  const child = startChild(files);
  await child
    .until("the start", isReady)
    .then(() => send(child.port, event))
    .catch(() => undefined);
  return child;
}

/** Accepted by a process that is gone before it could hand it off. */
async function storeBetweenLives(db: string, event: SignalEvent): Promise<void> {
  const store = await opened(sqliteStore(db), systemClock);
  await store.commit(batchOf({ accepts: [newEvent({ signal: event })] }));
  await store.close("default");
}

test("an event whose callback exits the process five times is dead, and drags none of its neighbours with it", async () => {
  const files = inboxFiles();
  const poison = eventThat("exits");
  // Slow: they are in hand when the process goes.
  const innocents = Array.from({ length: 4 }, () => eventThat("slow"));
  const between = Array.from({ length: 4 }, () => eventThat("slow"));
  const later = Array.from({ length: 5 }, () => eventThat("fine"));

  const first = await startReceiver(files);
  // Some get no answer, since it may exit before.
  await Promise.allSettled([...innocents, poison].map((event) => send(first.port, event)));
  expect(await first.exited).toBe(3);
  let last = first;
  let crashes = 1;
  for (const [index, event] of later.entries()) {
    // Until two crashes the poison is an event like any other, and takes others with it.
    if (crashes >= 2) await storeBetweenLives(files.db, between[index - 1] as SignalEvent);
    last = await startAndSend(files, event);
    if (rowsById(files.db).get(poison.id)?.state === "dead") break;
    expect(await last.exited).toBe(3);
    crashes += 1;
  }
  expect(crashes).toBe(5);
  expect(rowsById(files.db).get(poison.id)).toEqual({
    event_id: poison.id,
    state: "dead",
    attempts: 0,
    crashes: 5,
    last_error: "crash_loop",
    kept: JSON.stringify(poison).length,
  });

  // The sender repeats what it got no answer to.
  for (const event of [...innocents, ...later]) expect(isAcknowledged(await send(last.port, event))).toBe(true);
  const others = [...innocents, ...between, ...later];
  await last.until("all others to be done", () => {
    const rows = rowsById(files.db);
    return others.every(({ id }) => rows.get(id)?.state === "done");
  });
  const rows = rowsById(files.db);
  // Two crashes make a suspect, and a suspect runs with no other beside it, so no other crashes again.
  for (const { id } of others) expect(rows.get(id)?.crashes, id).toBeLessThanOrEqual(2);
  expect(innocents.map(({ id }) => rows.get(id)?.crashes)).toContain(2);
  // It waits until all others in hand have come to their end.
  expect(between.map(({ id }) => rows.get(id)?.crashes)).toEqual([0, 0, 0, 0]);
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
