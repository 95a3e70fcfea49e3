import { expect, test } from "vitest";
import { NO_HANDLER, type PastStep } from "../../../../src/kit/inbox/stored-events.js";
import {
  buildTimeline,
  type TimelineSides,
  type SentAttempt,
  type SentDelivery,
} from "../../../../src/page/timeline/build-timeline.js";
import type { TracedEvent } from "../../../../src/page/timeline/inbox-steps.js";

const START = Date.UTC(2026, 10, 5, 12);
const HOUR_MS = 3_600_000;
const dateTime = (after: number): string => new Date(START + after).toISOString();

function attempt(
  after: number,
  answer: number | string,
  more: Partial<SentAttempt> & { body?: string } = {},
): SentAttempt {
  const { body = "", ...rest } = more;
  return {
    started_at: dateTime(after),
    sent_at: dateTime(after),
    duration_ms: 12,
    answer: typeof answer === "number" ? { status: answer, body } : null,
    failure: typeof answer === "number" ? null : answer,
    faults: [],
    ...rest,
  };
}

function delivery(
  state: SentDelivery["state"],
  attempts: SentAttempt[],
  more: Partial<SentDelivery> = {},
): SentDelivery {
  const given = {
    delivery_id: 7,
    registration_id: "wh_1",
    created_at: dateTime(0),
    next_attempt_at: null,
  };
  return { ...given, redelivery_of: null, state, attempts, ...more };
}

function stored(
  after: number,
  state: TracedEvent["state"],
  dueAfter: number,
  more: Partial<TracedEvent> = {},
): TracedEvent {
  return {
    seq: 1,
    endpoint: "default",
    eventId: "sig_1",
    type: "signal.published",
    state,
    dueAt: START + dueAfter,
    attempts: 1,
    crashes: 0,
    possiblyRepeated: false,
    replayed: false,
    receivedAt: START + after,
    lastError: null,
    subtype: null,
    subject: null,
    sender: "signals",
    history: [],
    bytes: 420,
    ...more,
  };
}

const past = (
  after: number,
  kind: PastStep["kind"],
  attempts: number,
  error: string | null = null,
): PastStep => ({
  at: START + after,
  kind,
  attempts,
  error,
});

const DAY_LATER = START + 24 * HOUR_MS;
const knows = (...deliveries: SentDelivery[]): TimelineSides["sender"] => ({
  deliveries,
  serviceNow: DAY_LATER,
});

/** Each step as `seconds after the start, lane, text`, and the notes. */
function told(
  sides: Omit<TimelineSides, "now">,
  now = DAY_LATER,
): { steps: string[]; notes: string[] } {
  const { steps, notes } = buildTimeline({ now, ...sides });
  return {
    steps: steps.map(({ at, lane, text }) => `${(at - START) / 1000} ${lane} ${text}`),
    notes,
  };
}

test("a receiver that fails twice and a callback that fails once: every attempt of both sides, in order", () => {
  const refused = attempt(0, 503, { body: '{"error":{"code":"busy","message":"Too many."}}' });
  const sender = knows(
    delivery("delivered", [refused, attempt(2000, "connection_refused"), attempt(7000, 200)]),
  );
  const event = stored(7010, "done", 9000, {
    attempts: 2,
    history: [past(7020, "failed", 1, "Error: no\n  at x")],
  });
  const inbox = { event };
  expect(told({ sender, inbox })).toEqual({
    steps: [
      "0 sender attempt 1: 503 busy in 12 ms",
      "2 sender attempt 2: connection refused in 12 ms",
      "7 sender attempt 3: 200 in 12 ms",
      "7.01 inbox received and stored",
      "7.02 inbox hand-off 1 failed",
      "9 inbox hand-off 2 succeeded: done",
    ],
    notes: [],
  });
  const { steps } = buildTimeline({ now: DAY_LATER, sender, inbox });
  expect(steps.map(({ tone }) => tone)).toEqual(["bad", "bad", "good", "good", "bad", "good"]);
  expect(steps[0]).toMatchObject({ at: START, until: START + 12, detail: "Too many." });
  expect(steps[4]).toMatchObject({ detail: "Error: no\n  at x" });
});

test("an event that no function of onEvent takes was ignored", () => {
  const ignored = stored(0, "done", 0, { attempts: 0, lastError: NO_HANDLER });
  const wanted = [
    "0 inbox received and stored",
    "0 inbox ignored: no function of onEvent takes its type",
  ];
  expect(told({ sender: null, inbox: { event: ignored } }).steps).toEqual(wanted);
});

test("a crash, an attempt that is put off, a death and a replay are told as what they are", () => {
  const history = [
    past(1000, "crashed", 0),
    past(2000, "failed", 0, "RetryLater"),
    past(3000, "failed", 1, "Error: a"),
    past(4000, "replayed", 1),
    past(5000, "failed", 1, "Error: b"),
  ];
  const dead = stored(0, "dead", 5000, { history, lastError: "Error: b", replayed: true });
  expect(told({ sender: null, inbox: { event: dead } })).toEqual({
    steps: [
      "0 inbox received and stored",
      "1 inbox the process died during a hand-off",
      "2 inbox the callback put it off",
      "3 inbox hand-off 1 failed",
      "4 inbox replayed by a person, after 1 hand-off",
      "5 inbox hand-off 1 failed",
      "5 inbox dead after 1 hand-off: a person has to act",
    ],
    notes: [],
  });
  const { steps } = buildTimeline({
    now: DAY_LATER,
    sender: null,
    inbox: { event: { ...dead, lastError: "crash_loop" } },
  });
  expect(steps.at(-1)).toMatchObject({ kind: "dead", detail: "crash_loop" });
});

test.each([
  [stored(0, "ready", 60_000, { attempts: 2 }), 1000, "60 inbox hand-off 3 is due"],
  [stored(0, "ready", 500), 1000, "1 inbox hand-off 2 waits for the receiver"],
  [stored(0, "leased", 60_000, { attempts: 0 }), 1000, "1 inbox hand-off 1 is running"],
  [
    stored(0, "quarantined", 0, { lastError: "not JSON" }),
    1000,
    "0 inbox in quarantine: it cannot be used",
  ],
  [
    stored(0, "done", 0, { attempts: 0 }),
    1000,
    "0 inbox done without a hand-off: no callback is for its type",
  ],
  [stored(0, "done", 0, { bytes: null }), 1000, "0 inbox done"],
])("the last step is the present state: %#", (event, after, last) => {
  expect(told({ sender: null, inbox: { event } }, START + after).steps.at(-1)).toBe(last);
});

test("each delivery of an event has its name, and a duplicate is seen on both sides", () => {
  const first = delivery("delivered", [attempt(0, 200)]);
  const answers = [attempt(5000, 200, { body: '{"received":true,"duplicate":true}' })];
  const again = delivery("delivered", answers, { delivery_id: 9, redelivery_of: 7 });
  const other = delivery("cancelled", [attempt(1000, 404)], {
    delivery_id: 8,
    registration_id: "wh_2",
  });
  const sides = { sender: knows(again, other, first), inbox: { event: stored(5, "done", 20) } };
  const { steps } = buildTimeline({ now: DAY_LATER, ...sides });
  expect(steps.map(({ delivery: name, text }) => `${name ?? "-"}: ${text}`)).toEqual([
    "delivery 7 to wh_1: attempt 1: 200 in 12 ms",
    "-: received and stored",
    "-: hand-off 1 succeeded: done",
    "delivery 8 to wh_2: attempt 1: 404 in 12 ms",
    "delivery 8 to wh_2: cancelled: the sender sends it no more",
    "redelivery 9 of 7 to wh_1: attempt 1: 200 duplicate in 12 ms",
    "-: known already: not stored again",
  ]);
});

test("a moved clock of the service changes no order, and is said", () => {
  const sent = [attempt(0, 500), { ...attempt(6 * HOUR_MS, 200), sent_at: dateTime(3000) }];
  const waiting = [attempt(0, 500, { faults: [{ kind: "status", value: 500 }] })];
  const next = { delivery_id: 8, next_attempt_at: dateTime(6 * HOUR_MS + 60_000) };
  const sender = {
    deliveries: [delivery("delivered", sent), delivery("waiting", waiting, next)],
    serviceNow: START + 6 * HOUR_MS + 10_000,
  };
  const now = START + 10_000;
  const sides = { sender, inbox: { event: stored(3005, "done", 3010) } };
  const { steps, notes } = buildTimeline({ now, ...sides });
  expect(steps.map(({ at, lane }) => `${(at - START) / 1000} ${lane}`)).toEqual([
    "0 sender",
    "0 sender",
    "3 sender",
    "3.005 inbox",
    "3.01 inbox",
    "60 sender",
  ]);
  expect(steps[1]).toMatchObject({ detail: "fault: the sender takes it for 500" });
  expect(steps[2]).toMatchObject({ serviceAt: START + 6 * HOUR_MS });
  expect(notes).toEqual([expect.stringContaining("The service's clock differs")]);
  const paused = {
    ...sender,
    deliveries: [delivery("waiting", [], { next_attempt_at: dateTime(0) })],
  };
  expect(told({ sender: paused, inbox: null }, now).steps).toEqual([
    "10 sender attempt 1 waits: a paused registration gets nothing",
  ]);
});

test("times of two machines that do not fit together are said to be doubtful", () => {
  const sender = knows(delivery("delivered", [attempt(0, 200)]));
  const notesAt = (after: number): string[] =>
    told({ sender, inbox: { event: stored(after, "done", after) } }).notes;
  expect(notesAt(500)).toEqual([]);
  expect(notesAt(-5000)).toEqual([expect.stringContaining("clocks of the two machines differ")]);
  expect(notesAt(5000)).toEqual([expect.stringContaining("clocks of the two machines differ")]);
});

test("a side that does not know the event says so, and the other is shown", () => {
  const sender = knows(delivery("failed", [attempt(0, 401)]));
  expect(told({ sender, inbox: { event: null } })).toEqual({
    steps: ["0 sender attempt 1: 401 in 12 ms", "0.012 sender the sender has given up"],
    notes: [expect.stringContaining("never accepted")],
  });
  const accepted = knows(delivery("delivered", [attempt(0, 200)]));
  expect(told({ sender: accepted, inbox: { event: null } }).notes).toEqual([
    expect.stringContaining("pruned"),
  ]);
  expect(told({ sender: knows(), inbox: { event: stored(0, "done", 0) } }).notes).toEqual([
    expect.stringContaining("This sender does not know the event"),
  ]);
  expect(told({ sender: null, inbox: null })).toEqual({ steps: [], notes: [] });
});

test("hostile answers are read as text", () => {
  for (const body of [
    "null",
    "[1]",
    '{"error":7}',
    '{"error":null}',
    '{"error":{"code":{}}}',
    "<script>",
    "{",
  ]) {
    const sender = knows(delivery("failed", [attempt(0, 500, { body })]));
    expect(told({ sender, inbox: null }).steps[0]).toBe("0 sender attempt 1: 500 in 12 ms");
  }
});
