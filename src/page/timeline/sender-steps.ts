import type { TimelineStep } from "./timeline-step.js";

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
export const CLOCK_SLACK_MS = 1000;

/** @param aheadMs how far the service's clock is ahead of the machine's now */
export function senderSteps(
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
  const { started_at, duration_ms, answer, failure, faults } = attempt;
  const at = Date.parse(attempt.sent_at);
  const serviceAt = Date.parse(started_at);
  // Its first success ends a delivery. The fault `duplicate` sends two requests at the same time.
  const isGood = state === "delivered" && started_at === attempts.at(-1)?.started_at;
  const { words, rest } = readAnswer(answer?.body ?? "");
  const result =
    answer === null ? (failure ?? "no answer").replaceAll("_", " ") : String(answer.status);
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
    text: `attempt ${number}: ${[result, ...words].join(" ")} in ${Math.round(duration_ms)} ms`,
    ...(words.includes(DUPLICATE) && { isDuplicate: true }),
    ...(detail !== "" && { detail }),
    ...(Math.abs(serviceAt - at) > CLOCK_SLACK_MS && { serviceAt }),
  };
}

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
