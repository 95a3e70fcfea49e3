import { writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { areHandedOff, idsOf, startChild, startReceiver, type Child } from "./child-process.js";
import { inboxFiles, readLog, readRows, unflaggedRepeats } from "./inbox-file.js";
import { eventThat, isAcknowledged, send, sendUntilRefused, type Fate } from "./sender.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** Of its callbacks every third has this fate. @returns the ids that were acknowledged, to a SIGTERM in between and after */
async function sendUntilStopped(receiver: Child, third: Fate): Promise<string[]> {
  const acknowledged: string[] = [];
  await sendUntilRefused(
    receiver.port,
    32,
    () => (acknowledged.length % 3 === 2 ? third : "fine"),
    (id) => {
      acknowledged.push(id);
      if (acknowledged.length === 300) receiver.kill("SIGTERM");
    },
  );
  return acknowledged;
}

test("SIGTERM and close() under load lose nothing, give back what runs, and the process ends by itself", async () => {
  const files = inboxFiles();
  const receiver = await startReceiver(files);
  const acknowledged = await sendUntilStopped(receiver, "slow");
  expect(await receiver.exited).toBe(0);
  expect(receiver.lines).toContainEqual({ say: "closed" });

  const rows = readRows(files.db);
  const stored = new Set(rows.map(({ event_id }) => event_id));
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  // Nothing is left in the hands of a process that is gone, and a deploy is no crash and no attempt.
  const open = rows.filter(({ state }) => state !== "done");
  expect(open.length).toBeGreaterThan(0);
  for (const row of open) expect(row).toMatchObject({ state: "ready", attempts: 0, crashes: 0 });

  const next = await startReceiver(files);
  await next.until("the hand-off of what is left", areHandedOff(open.map(({ event_id }) => event_id)));
  const begun = readLog(files.log);
  expect(new Set(begun.map(({ id }) => id))).toEqual(stored);
  expect(unflaggedRepeats(begun)).toEqual([]);
});

test("SIGTERM with time to spare lets every callback in hand come to its end, and begins no other", async () => {
  const files = inboxFiles();
  const receiver = await startReceiver({ ...files, graceMs: 20_000 });
  const acknowledged: string[] = [];
  await sendUntilRefused(
    receiver.port,
    32,
    () => "slow",
    (id) => {
      acknowledged.push(id);
      if (acknowledged.length === 100) receiver.kill("SIGTERM");
    },
  );
  expect(await receiver.exited).toBe(0);
  const begun = readLog(files.log);
  expect(begun.length).toBeGreaterThan(0);
  const rows = readRows(files.db);
  const idsIn = (state: string) => rows.flatMap((row) => (row.state === state ? [row.event_id] : [])).toSorted();
  expect(idsIn("done")).toEqual(begun.map(({ id }) => id).toSorted());
  expect(idsIn("ready").length).toBe(rows.length - begun.length);
  expect(acknowledged.filter((id) => !rows.some(({ event_id }) => event_id === id))).toEqual([]);

  const next = await startReceiver(files);
  await next.until("the hand-off of what is left", areHandedOff(idsIn("ready")));
  // Each once, over both lives.
  const all = readLog(files.log);
  expect(all.map(({ id }) => id).toSorted()).toEqual(rows.map(({ event_id }) => event_id).toSorted());
  expect(all.filter(({ possiblyRepeated }) => possiblyRepeated)).toEqual([]);
});

test("a second SIGTERM ends the process at once, and nothing acknowledged is lost", async () => {
  const files = inboxFiles();
  // With this grace the first alone would not end it.
  const receiver = await startReceiver({ ...files, graceMs: 3_600_000 });
  const acknowledged = await sendUntilStopped(receiver, "hangs");
  expect(receiver.lines).not.toContainEqual({ say: "closed" });
  receiver.kill("SIGTERM");
  expect(await receiver.exited).toBe("SIGTERM");

  const stored = readRows(files.db);
  const ids = new Set(stored.map(({ event_id }) => event_id));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  const open = stored.filter(({ state }) => state !== "done").map(({ event_id }) => event_id);
  expect(stored.some(({ state }) => state === "leased")).toBe(true);
  writeFileSync(files.healedBy, "");
  const next = await startReceiver(files);
  await next.until("the hand-off of what is left", areHandedOff(open));
  const begun = readLog(files.log);
  expect(new Set(begun.map(({ id }) => id))).toEqual(ids);
  expect(unflaggedRepeats(begun)).toEqual([]);
});

test("a second owner is refused while the first lives, and takes its events over once it is killed", async () => {
  const files = inboxFiles();
  const first = await startReceiver(files);
  const events = [eventThat("hangs"), eventThat("hangs"), eventThat("hangs")];
  for (const event of events) expect(isAcknowledged(await send(first.port, event))).toBe(true);
  await first.until("the callbacks", (lines) => idsOf(lines, "begun").length === events.length);

  for (const shared of [false, true]) {
    const refused = startChild({ ...files, shared });
    expect(await refused.exited).toBe(0);
    expect(refused.lines).toEqual([{ say: "refused", code: "store_in_use" }]);
  }

  first.kill("SIGKILL");
  expect(await first.exited).toBe("SIGKILL");
  // Their leases still run for a minute: an owner does not wait for that.
  const second = await startReceiver(files);
  await second.until("the callbacks", (lines) => idsOf(lines, "begun").length === events.length);
  expect(second.lines.filter(({ say }) => say === "begun")).toEqual(
    events.map(({ id }) => ({ say: "begun", id, possiblyRepeated: true, replayed: false, attempt: 1 })),
  );
});

test("an owner is refused while processes share the file, and let in when they are gone", async () => {
  const files = inboxFiles();
  const shared = await startReceiver({ ...files, shared: true });
  const refused = startChild(files);
  expect(await refused.exited).toBe(0);
  expect(refused.lines).toEqual([{ say: "refused", code: "store_in_use" }]);
  shared.kill("SIGKILL");
  await shared.exited;
  await startReceiver(files);
});

test("an uncaught exception of the host between accept and hand-off loses nothing", async () => {
  const files = inboxFiles();
  const event = eventThat("fine");
  const broken = await startReceiver({ ...files, fault: "uncaught exception" });
  await send(broken.port, event).catch(() => undefined);
  expect(await broken.exited).toBe(1);
  expect(readLog(files.log)).toEqual([]);

  const receiver = await startReceiver(files);
  await receiver.until("the hand-off", areHandedOff([event.id]));
  // What the sender does that got no answer.
  expect(await send(receiver.port, event)).toEqual({ status: 200, body: `{"received":true,"duplicate":true}` });
  expect(readLog(files.log)).toEqual([{ id: event.id, possiblyRepeated: true, attempt: 1 }]);
});

test("process.exit right after the first 2xx loses nothing", async () => {
  const files = inboxFiles();
  const event = eventThat("fine");
  const broken = await startReceiver({ ...files, fault: "exit after the answer" });
  expect(await send(broken.port, event)).toEqual({ status: 200, body: `{"received":true}` });
  expect(await broken.exited).toBe(0);
  expect(readLog(files.log)).toEqual([]);

  const receiver = await startReceiver(files);
  await receiver.until("the hand-off", areHandedOff([event.id]));
  expect(readLog(files.log)).toEqual([{ id: event.id, possiblyRepeated: true, attempt: 1 }]);
});

test("process.exit in the middle of a commit: no answer was given, and what the sender repeats is handed off once", async () => {
  const files = inboxFiles();
  const event = eventThat("fine");
  const broken = await startReceiver({ ...files, fault: "exit in a commit" });
  await expect(send(broken.port, event)).rejects.toThrow();
  expect(await broken.exited).toBe(4);
  expect(readLog(files.log)).toEqual([]);

  const receiver = await startReceiver(files);
  const answer = await send(receiver.port, event);
  expect(isAcknowledged(answer)).toBe(true);
  await receiver.until("the hand-off", areHandedOff([event.id]));
  expect(readLog(files.log).map(({ id }) => id)).toEqual([event.id]);
  expect(readRows(files.db)).toMatchObject([{ event_id: event.id, state: "done" }]);
});
