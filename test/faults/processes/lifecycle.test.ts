import { expect, test } from "vitest";
import { areHandedOff, idsOf, startChild, startReceiver, type Child } from "../child-process.js";
import { inboxFiles, readLog, readRows, unflaggedRepeats } from "../inbox-file.js";
import { eventThat, isAcknowledged, send, sendUntilRefused, type Fate } from "../sender.js";

const NEW = `{"received":true}`;
const DUPLICATE = `{"received":true,"duplicate":true}`;

/**
 * Of its callbacks every third has this fate. @returns the ids that were acknowledged, to a SIGTERM
 * in between and after
 */
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
  // Nothing is left in the hands of a process that is gone, and a deploy is no crash and no
  // attempt.
  const open = rows.filter(({ state }) => state !== "done");
  expect(open.length).toBeGreaterThan(0);
  for (const row of open) expect(row).toMatchObject({ state: "ready", attempts: 0, crashes: 0 });

  const next = await startReceiver(files);
  await next.until(
    "the hand-off of what is left",
    areHandedOff(open.map(({ event_id }) => event_id)),
  );
  const begun = readLog(files.log);
  expect(new Set(begun.map(({ id }) => id))).toEqual(stored);
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

  expect(await first.end("SIGKILL")).toBe("SIGKILL");
  // Their leases still run for a minute: an owner does not wait for that.
  const second = await startReceiver(files);
  await second.until("the callbacks", (lines) => idsOf(lines, "begun").length === events.length);
  expect(second.lines.filter(({ say }) => say === "begun")).toEqual(
    events.map(({ id }) => ({
      say: "begun",
      id,
      possiblyRepeated: true,
      replayed: false,
      attempt: 1,
    })),
  );
});

// `answer`: what the sender gets, if anything. `repeated`: what it gets when it sends the event
// again.
test.each([
  { fault: "uncaught exception", exit: 1, repeated: DUPLICATE, flagged: true },
  { fault: "exit after the answer", answer: NEW, exit: 0, repeated: DUPLICATE, flagged: true },
  { fault: "exit in a commit", exit: 4, flagged: false },
] as const)(
  "a process that ends by itself ($fault) loses nothing, and hands off once",
  async (given) => {
    const files = inboxFiles();
    const event = eventThat("fine");
    const broken = await startReceiver({ ...files, fault: given.fault });
    const answer = await send(broken.port, event).catch(() => undefined);
    if ("answer" in given) expect(answer?.body).toBe(given.answer);
    expect(await broken.exited).toBe(given.exit);
    expect(readLog(files.log)).toEqual([]);

    const receiver = await startReceiver(files);
    const repeated = await send(receiver.port, event);
    expect(isAcknowledged(repeated)).toBe(true);
    if ("repeated" in given) expect(repeated.body).toBe(given.repeated);
    await receiver.until("the hand-off", areHandedOff([event.id]));
    const begun = readLog(files.log);
    expect(begun.map(({ id, attempt }) => [id, attempt])).toEqual([[event.id, 1]]);
    if (given.flagged) expect(begun[0]?.possiblyRepeated).toBe(true);
    expect(readRows(files.db)).toMatchObject([{ event_id: event.id, state: "done" }]);
  },
);
