import { replaceUnseen } from "../../../base/text/visible-text.js";
import { nextTurn } from "../../../base/time/timers.js";
import type { InboxStore } from "../store.js";
import { ANYTHING } from "../stored-events.js";
import { FAILED_AT_ONCE, type FailedEvent, type Failure } from "./trouble.js";

const MOST_SUBJECTS = 5;

const WORDS = /[\w:.,/@#+-]+/g;
/** A digit, or the letters of an id such as `cus_NffrFeUfNVqhgx`: capital and small ones. */
const VARIES = /\d|_(?=[a-z]*[A-Z])(?=[A-Z]*[a-z])[A-Za-z]{8,}/;
const CALLS = /\n +at [^]*?(?=\ncaused by |$)/g;

/**
 * An error without its calls and the parts that differ between events: words with a digit in them,
 * ids, and what the event is about.
 */
export function commonError({
  lastError,
  subject,
}: Pick<FailedEvent, "lastError" | "subject">): string {
  // What cannot be seen cannot be copied from a terminal or a page either.
  const text = replaceUnseen(
    lastError.replaceAll(CALLS, "").replaceAll(/\s*\n\s*/g, ANYTHING),
    ANYTHING,
  );
  const named = subject === null ? text : text.replaceAll(subject, ANYTHING);
  // It is looked for in the word: a pattern with `*` on both sides of a digit takes quadratic
  // time for a long word without one.
  return named
    .replaceAll(WORDS, (word) => (VARIES.test(word) ? ANYTHING : word))
    .replaceAll(/…{2,}/g, ANYTHING);
}

/** Of each state, so many of the newest events are looked at. */
const MOST_FAILED = 5000;

/**
 * The events that fail now, in groups: those that wait after a failed attempt, and the dead ones.
 * The largest group is first.
 *
 * @internal
 */
export async function readFailures(
  store: Pick<InboxStore, "failing">,
  endpoint: string,
): Promise<Failure[]> {
  const groups = new Map<string, Group>();
  for (const state of ["ready", "dead"] as const) {
    let beforeSeq = Number.MAX_SAFE_INTEGER;
    for (let looked = 0; looked < MOST_FAILED; looked += FAILED_AT_ONCE) {
      const events = await store.failing(endpoint, state, beforeSeq);
      for (const event of events) addTo(groups, event);
      if (events.length < FAILED_AT_ONCE) break;
      beforeSeq = events.at(-1)?.seq ?? 0;
      // Each portion gets a turn of its own, so that many do not block the event loop together.
      await nextTurn();
    }
  }
  return [...groups.values()]
    .map(failureOf)
    .sort((a, b) => b.count - a.count || b.lastSeen - a.lastSeen);
}

type Group = Omit<Failure, "subjects" | "subjectCount"> & {
  bySubject: Map<string, number>;
  began: number[];
};

function addTo(groups: Map<string, Group>, event: FailedEvent): void {
  const { eventId, state, subject, firstFailedAt, lastFailedAt } = event;
  const error = commonError(event);
  const group = groups.get(error) ?? {
    error,
    count: 0,
    waiting: 0,
    dead: 0,
    firstSeen: firstFailedAt,
    lastSeen: lastFailedAt,
    heldCount: 0,
    eventIds: [],
    began: [],
    bySubject: new Map<string, number>(),
  };
  groups.set(error, group);
  group.count += 1;
  group[state === "dead" ? "dead" : "waiting"] += 1;
  group.firstSeen = Math.min(group.firstSeen, firstFailedAt);
  group.lastSeen = Math.max(group.lastSeen, lastFailedAt);
  group.heldCount += event.heldCount;
  group.eventIds.push(eventId);
  group.began.push(firstFailedAt);
  if (subject !== null) group.bySubject.set(subject, (group.bySubject.get(subject) ?? 0) + 1);
}

function failureOf({ bySubject, began, ...group }: Group): Failure {
  const subjects = [...bySubject].sort(([, a], [, b]) => b - a).map(([subject]) => subject);
  const spans = Array.from({ length: 12 }, () => 0);
  const spanMs = (group.lastSeen - group.firstSeen + 1) / spans.length;
  for (const at of began) spans[Math.floor((at - group.firstSeen) / spanMs)]! += 1;
  const subjectCount = subjects.length;
  return { ...group, subjects: subjects.slice(0, MOST_SUBJECTS), subjectCount, spans };
}
