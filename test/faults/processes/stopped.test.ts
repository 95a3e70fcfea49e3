import { expect, test, vi } from "vitest";
import { areHandedOff, idsOf, startChild, startReceiver, type Child } from "../child-process.js";
import { inboxFiles, readLog, readRows } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const HOUR_MS = 3_600_000;

/** Whether the callback of this event began in this process. */
function hasBegun(child: Child, id: string): Promise<void> {
  return child.until(`the callback of ${id}`, (lines) => idsOf(lines, "begun").includes(id));
}

test("an owner that is stopped past its leases keeps the file, and goes on as if nothing had been", async () => {
  const files = inboxFiles();
  const owner = await startReceiver(files);
  const events = [eventThat("waits"), eventThat("waits"), eventThat("waits")];
  for (const event of events) expect(isAcknowledged(await send(owner.port, event))).toBe(true);
  await owner.until("the callbacks", (lines) => idsOf(lines, "begun").length === events.length);

  owner.kill("SIGSTOP");
  // By the clock of the others all its leases have long run out.
  for (const shared of [false, true]) {
    const refused = startChild({ ...files, shared, clockAheadMs: HOUR_MS });
    expect(await refused.exited).toBe(0);
    expect(refused.lines).toEqual([{ say: "refused", code: "store_in_use" }]);
  }
  // The kernel takes it; it is answered when the process goes on.
  const late = eventThat("fine");
  const answer = send(owner.port, late);
  owner.kill("SIGUSR2");
  owner.kill("SIGCONT");

  expect(await answer).toEqual({ status: 200, body: `{"received":true}` });
  const all = [...events, late].map(({ id }) => id);
  await owner.until("the hand-off of all", areHandedOff(all));
  expect(readLog(files.log)).toEqual(all.map((id) => ({ id, possiblyRepeated: false, attempt: 1 })));
  owner.kill("SIGTERM");
  expect(await owner.exited).toBe(0);
  expect(readRows(files.db).map(({ state, attempts, crashes }) => [state, attempts, crashes])).toEqual(
    all.map(() => ["done", 1, 0]),
  );
});

/** A process is stopped in a callback; another, by whose clock the lease is over, has the event in hand now. */
async function takeOverFromStopped(): Promise<{
  files: ReturnType<typeof inboxFiles>;
  stopped: Child;
  other: Child;
  id: string;
}> {
  const files = inboxFiles();
  const stopped = await startReceiver({ ...files, shared: true });
  const event = eventThat("waits");
  expect(isAcknowledged(await send(stopped.port, event))).toBe(true);
  await hasBegun(stopped, event.id);
  stopped.kill("SIGSTOP");
  const other = await startReceiver({ ...files, shared: true, clockAheadMs: HOUR_MS });
  await hasBegun(other, event.id);
  return { files, stopped, other, id: event.id };
}

/** Lets the stopped one come to the end of its callback. */
async function resume(stopped: Child, id: string): Promise<void> {
  stopped.kill("SIGUSR2");
  stopped.kill("SIGCONT");
  await stopped.until("the lost lease", (lines) => idsOf(lines, "leaseLost").includes(id));
  expect(idsOf(stopped.lines, "handedOff")).toEqual([]);
}

const FLAGGED_ONCE = [false, true].map((possiblyRepeated) => ({ possiblyRepeated, attempt: 1 }));

test("a process stopped past its lease that goes on first ends nothing: the event stays with the process that took it over", async () => {
  const { files, stopped, other, id } = await takeOverFromStopped();
  await resume(stopped, id);
  expect(readRows(files.db)).toMatchObject([{ event_id: id, state: "leased", attempts: 0, crashes: 1 }]);
  other.kill("SIGUSR2");
  await other.until("the hand-off", areHandedOff([id]));
  expect(readRows(files.db)).toMatchObject([{ event_id: id, state: "done", attempts: 1, crashes: 1 }]);
  expect(readLog(files.log)).toEqual(FLAGGED_ONCE.map((begun) => ({ id, ...begun })));
});

test("a process stopped past its lease that goes on last ends nothing either, and takes events as before", async () => {
  const { files, stopped, other, id } = await takeOverFromStopped();
  other.kill("SIGUSR2");
  await other.until("the hand-off", areHandedOff([id]));
  const settled = readRows(files.db);
  other.kill("SIGTERM");
  expect(await other.exited).toBe(0);
  await resume(stopped, id);
  expect(readRows(files.db)).toEqual(settled);
  expect(settled).toMatchObject([{ event_id: id, state: "done", attempts: 1, crashes: 1 }]);
  expect(readLog(files.log)).toEqual(FLAGGED_ONCE.map((begun) => ({ id, ...begun })));

  const next = eventThat("fine");
  expect(await send(stopped.port, next)).toEqual({ status: 200, body: `{"received":true}` });
  await stopped.until("its hand-off", areHandedOff([next.id]));
  stopped.kill("SIGTERM");
  expect(await stopped.exited).toBe(0);
});
