import { expect, test } from "vitest";
import { areHandedOff, hasBegun, idsOf, startChild, startReceiver } from "../child-process.js";
import { inboxFiles, readLog, readRows } from "../inbox-file.js";
import { eventThat, isAcknowledged, send } from "../sender.js";

const HOUR_MS = 3_600_000;

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
  expect(readLog(files.log)).toEqual(
    all.map((id) => ({ id, possiblyRepeated: false, attempt: 1 })),
  );
  expect(await owner.end("SIGTERM")).toBe(0);
  expect(
    readRows(files.db).map(({ state, attempts, crashes }) => [state, attempts, crashes]),
  ).toEqual(all.map(() => ["done", 1, 0]));
});

test("a process stopped past its lease ends nothing: the event stays with the process that took it over", async () => {
  const files = inboxFiles();
  const stopped = await startReceiver({ ...files, shared: true });
  const event = eventThat("waits");
  const { id } = event;
  expect(isAcknowledged(await send(stopped.port, event))).toBe(true);
  await hasBegun(stopped, id);
  stopped.kill("SIGSTOP");
  // By the clock of this one the lease is over.
  const other = await startReceiver({ ...files, shared: true, clockAheadMs: HOUR_MS });
  await hasBegun(other, id);
  stopped.kill("SIGUSR2");
  stopped.kill("SIGCONT");
  await stopped.until("the lost lease", (lines) => idsOf(lines, "leaseLost").includes(id));
  expect(idsOf(stopped.lines, "handedOff")).toEqual([]);
  expect(readRows(files.db)).toMatchObject([
    { event_id: id, state: "leased", attempts: 0, crashes: 1 },
  ]);
  other.kill("SIGUSR2");
  await other.until("the hand-off", areHandedOff([id]));
  expect(readRows(files.db)).toMatchObject([
    { event_id: id, state: "done", attempts: 1, crashes: 1 },
  ]);
  expect(readLog(files.log)).toEqual(
    [false, true].map((possiblyRepeated) => ({ id, possiblyRepeated, attempt: 1 })),
  );

  const next = eventThat("fine");
  expect(await send(stopped.port, next)).toEqual({ status: 200, body: `{"received":true}` });
  await Promise.any(
    [stopped, other].map((child) => child.until("its hand-off", areHandedOff([next.id]))),
  );
  expect(await stopped.end("SIGTERM")).toBe(0);
});
