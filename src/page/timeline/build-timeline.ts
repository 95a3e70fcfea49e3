import { MOST_PAST_STEPS } from "../../kit/inbox/stored-events.js";
import { inboxSteps, type TracedEvent } from "./inbox-steps.js";
import type { Timeline, TimelineStep } from "./timeline-step.js";

/**
 * What is known about an event. A side that was not asked is null: it has no steps, and no note
 * says that it is unknown.
 */
export interface TimelineSides {
  /** The machine's time. */
  now: number;
  /** Deliveries of the event in any order, and the service's time. */
  sender: { deliveries: readonly SentDelivery[]; serviceNow: number } | null;
  /** `event`: null when the inbox does not know it. */
  inbox: { event: TracedEvent | null } | null;
}

/** Puts both sides of an event on one axis, which is the machine's time. */
export function buildTimeline({ now, sender, inbox }: TimelineSides): Timeline {
  const deliveries = (sender?.deliveries ?? []).toSorted((a, b) => a.delivery_id - b.delivery_id);
  const sent = senderSteps(deliveries, now, (sender?.serviceNow ?? now) - now);
  const event = inbox?.event ?? null;
  const stored = event === null ? [] : [...inboxSteps(event, now), ...duplicateSteps(sent)];
  const notes = [
    ...(sender !== null && deliveries.length === 0 ? [UNKNOWN_TO_SENDER] : []),
    ...(inbox !== null && event === null ? [unknownToInbox(sent)] : []),
    ...clockNotes(sent, event),
    ...(event !== null && event.history.length >= MOST_PAST_STEPS
      ? [
          `The inbox keeps the newest ${MOST_PAST_STEPS} steps of an event: earlier ones are not shown.`,
        ]
      : []),
  ];
  // Of steps at the same time the sender's is first, because toSorted keeps the order of equals.
  return { steps: [...sent, ...stored].toSorted((a, b) => a.at - b.at), notes };
}

const UNKNOWN_TO_SENDER =
  "This sender does not know the event: the real service or another emulator sent it, or a person sent it by hand.";

function unknownToInbox(sent: readonly TimelineStep[]): string {
  const isAccepted = sent.some(({ tone }) => tone === "good");
  return isAccepted
    ? "The inbox does not know the event, although a delivery was accepted: it is another inbox or endpoint, or the event was pruned."
    : "The inbox does not know the event: it was never accepted, or it is of another inbox or endpoint.";
}

/** For each answer that says so, what the inbox did: it stored nothing. */
function duplicateSteps(sent: readonly TimelineStep[]): TimelineStep[] {
  return sent
    .filter(({ isDuplicate }) => isDuplicate)
    .map(({ at, until = at }) => {
      return {
        lane: "inbox",
        at: until,
        kind: "duplicate",
        tone: "idle",
        text: "known already: not stored again",
      };
    });
}

const CLOCK_MOVED =
  "The service's clock differs from this machine's. The order is by the machine's time.";
const CLOCKS_DIFFER =
  "The inbox received the event at a time at which this sender sent nothing: the clocks of the two machines differ, or another sender sent it too. The order between the two sides may be wrong.";

function clockNotes(sent: readonly TimelineStep[], event: TracedEvent | null): string[] {
  const isMoved = sent.some(({ serviceAt }) => serviceAt !== undefined);
  const distances = sent
    .filter(({ until }) => until !== undefined)
    .map(({ at, until = at }) =>
      event === null ? 0 : Math.max(at - event.receivedAt, event.receivedAt - until),
    );
  const isOutside = distances.length > 0 && Math.min(...distances) > CLOCK_SLACK_MS;
  return [...(isMoved ? [CLOCK_MOVED] : []), ...(isOutside ? [CLOCKS_DIFFER] : [])];
}

/**
 * A delivery as the control API of the emulator shows it. Times are date-times of the service's
 * clock, but `sent_at`.
 */
export interface SentDelivery {
  delivery_id: number;
  registration_id: string;
  state: "waiting" | "sending" | "delivered" | "failed" | "expired" | "cancelled";
  created_at: string;
  next_attempt_at: string | null;
  redelivery_of: number | null;
  attempts: readonly SentAttempt[];
}

/** One request of a delivery. */
export interface SentAttempt {
  started_at: string;
  /** By the machine's clock. */
  sent_at: string;
  duration_ms: number;
  answer: { status: number; body: string } | null;
  failure: string | null;
  faults: readonly { kind: string; value: number | null }[];
}

/** Times that differ by less are no sign of clocks that differ. */
const CLOCK_SLACK_MS = 1000;

/** @param aheadMs how far the service's clock is ahead of the machine's now */
function senderSteps(
  deliveries: readonly SentDelivery[],
  now: number,
  aheadMs: number,
): TimelineStep[] {
  return deliveries.flatMap((delivery) => {
    const attempts = delivery.attempts.map((attempt, index) =>
      attemptStep(attempt, index + 1, delivery),
    );
    const { created_at, next_attempt_at } = delivery;
    // If the clock was moved since then, the present offset is too large.
    const lastAt = attempts.at(-1)?.until ?? Math.min(now, Date.parse(created_at) - aheadMs);
    const dueAt = next_attempt_at === null ? now : Date.parse(next_attempt_at) - aheadMs;
    const end = endStep(delivery, lastAt, dueAt, now);
    const steps = end === null ? attempts : [...attempts, { lane: "sender" as const, ...end }];
    return deliveries.length === 1
      ? steps
      : steps.map((step) => ({ ...step, delivery: nameOf(delivery) }));
  });
}

function nameOf({ delivery_id, registration_id, redelivery_of }: SentDelivery): string {
  const name =
    redelivery_of === null
      ? `delivery ${delivery_id}`
      : `redelivery ${delivery_id} of ${redelivery_of}`;
  return `${name} to ${registration_id}`;
}

function attemptStep(
  attempt: SentAttempt,
  number: number,
  { state, attempts }: SentDelivery,
): TimelineStep {
  const { started_at, duration_ms, answer, faults } = attempt;
  const at = Date.parse(attempt.sent_at);
  const serviceAt = Date.parse(started_at);
  // Its first success ends a delivery. The fault `duplicate` sends two requests at the same time.
  const isGood = state === "delivered" && started_at === attempts.at(-1)?.started_at;
  const { words, rest } = readAnswer(answer?.body ?? "");
  const applied = faults.map(({ kind, value }) =>
    kind === "status"
      ? `fault: the sender takes it for ${value}`
      : `fault: ${kind} ${value ?? ""}`.trimEnd(),
  );
  const isRefused = answer !== null && (answer.status < 200 || answer.status > 299);
  const detail = [...applied, ...(isRefused && rest !== "" ? [rest] : [])].join("\n");
  return {
    lane: "sender",
    at,
    until: at + Math.round(duration_ms),
    kind: "attempt",
    tone: isGood ? "good" : "bad",
    text: `attempt ${number}: ${[resultOf(attempt), ...words].join(" ")} in ${Math.round(duration_ms)} ms`,
    ...(words.includes(DUPLICATE) && { isDuplicate: true }),
    ...(detail !== "" && { detail }),
    ...(Math.abs(serviceAt - at) > CLOCK_SLACK_MS && { serviceAt }),
  };
}

/** The status that the receiver answered, or why there is no answer. */
export const resultOf = ({ answer, failure }: Pick<SentAttempt, "answer" | "failure">): string =>
  answer === null ? (failure ?? "no answer").replaceAll("_", " ") : String(answer.status);

const DUPLICATE = "duplicate";

interface AnswerOfReceiver {
  duplicate?: unknown;
  error?: { code?: unknown; message?: unknown };
}

/**
 * The code of a refusal and the mark of a duplicate, as a receiver of signalbox answers them; and
 * what else it says.
 */
function readAnswer(body: string): { words: string[]; rest: string } {
  const rest = body.trim().slice(0, 500);
  try {
    const { duplicate, error = {} } = JSON.parse(body) as AnswerOfReceiver;
    const code = typeof error.code === "string" ? [error.code.slice(0, 60)] : [];
    const words = duplicate === true ? [...code, DUPLICATE] : code;
    return { words, rest: typeof error.message === "string" ? error.message.slice(0, 500) : rest };
  } catch {
    return { words: [], rest };
  }
}

const ENDS = {
  failed: { tone: "bad", text: "the sender has given up" },
  expired: { tone: "bad", text: "expired: the sender sends it no more" },
  cancelled: { tone: "idle", text: "cancelled: the sender sends it no more" },
} as const;

/** What comes after the attempts; null when the last one was the end. */
function endStep(
  { state, attempts }: SentDelivery,
  lastAt: number,
  dueAt: number,
  now: number,
): Pick<TimelineStep, "at" | "kind" | "tone" | "text"> | null {
  const next = `attempt ${attempts.length + 1}`;
  if (state === "delivered") return null;
  if (state === "sending")
    return { at: now, kind: "planned", tone: "busy", text: `${next} is being sent` };
  if (state !== "waiting") return { at: lastAt, kind: "ended", ...ENDS[state] };
  if (dueAt >= now) return { at: dueAt, kind: "planned", tone: "idle", text: `${next} is due` };
  return {
    at: now,
    kind: "planned",
    tone: "warn",
    text: `${next} waits: a paused registration gets nothing`,
  };
}
