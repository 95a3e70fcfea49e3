import { formatCount } from "../../base/text/format.js";
import { whyNotHandedOff } from "../../kit/inbox/done-reasons.js";
import { NEVER, type InboxEntry, type PastStep } from "../../kit/inbox/stored-events.js";
import type { TimelineStep } from "./timeline-step.js";

/** A stored event, as the inbox page's `api/event` answers it. */
export interface TracedEvent extends InboxEntry {
  history: readonly PastStep[];
  /** The size of the body; null once it is deleted, together with the history. */
  bytes: number | null;
}

type Described = Pick<TimelineStep, "kind" | "tone" | "text"> & {
  at: number;
  detail?: string | null;
};

export function inboxSteps(event: TracedEvent, now: number): TimelineStep[] {
  const { receivedAt, bytes, history } = event;
  const size = bytes === null ? null : `${bytes} bytes`;
  const past = history.map((step, index) => pastStep(step, history[index - 1]));
  const described: Described[] = [
    { at: receivedAt, kind: "received", tone: "good", text: "received and stored", detail: size },
    ...past.map((step, index) => withoutSame(step, past[index - 1])),
    presentStep(event, now),
  ];
  return described.map(({ detail, ...step }) => ({
    lane: "inbox",
    ...step,
    ...(detail && { detail }),
  }));
}

/** The calls after it can differ, although the error is the same. */
const messageOf = (step?: Described): string | undefined => step?.detail?.split("\n", 1)[0];

/** An error is told once, of several failures in a row with it. */
function withoutSame(step: Described, before: Described | undefined): Described {
  const message = messageOf(step);
  return message !== undefined && message === messageOf(before)
    ? { ...step, detail: "the same error" }
    : step;
}

function pastStep(
  { at, kind, attempts, error }: PastStep,
  before: PastStep | undefined,
): Described {
  if (kind === "crashed")
    return { at, kind, tone: "bad", text: "the process died during a hand-off" };
  if (kind === "replayed") {
    return {
      at,
      kind,
      tone: "busy",
      text: `replayed by a person, after ${formatCount(attempts, "hand-off")}`,
    };
  }
  const usedBefore = before === undefined || before.kind === "replayed" ? 0 : before.attempts;
  // RetryLater uses up no attempt.
  if (attempts <= usedBefore)
    return { at, kind, tone: "warn", text: "the callback put it off", detail: error };
  return { at, kind, tone: "bad", text: `hand-off ${attempts} failed`, detail: error };
}

/** Its present state, at the moment since when or until when it has it. */
function presentStep({ dueAt: at, attempts, ...event }: TracedEvent, now: number): Described {
  const { state, bytes, lastError, history, possiblyRepeated } = event;
  const detail = possiblyRepeated ? "The callback may have done its work before." : null;
  const next = `hand-off ${attempts + 1}`;
  switch (state) {
    case "ready":
      if (at === NEVER)
        return { at: now, kind: "due", tone: "idle", text: `${next} waits its turn`, detail };
      if (at > now) return { at, kind: "due", tone: "idle", text: `${next} is due`, detail };
      return { at: now, kind: "due", tone: "busy", text: `${next} waits for the receiver`, detail };
    case "leased":
      return { at: now, kind: "running", tone: "busy", text: `${next} is running`, detail };
    case "dead": {
      const isKnown = history.at(-1)?.error === lastError;
      const text = `dead after ${formatCount(attempts, "hand-off")}: a person has to act`;
      return { at, kind: "dead", tone: "bad", text, detail: isKnown ? null : lastError };
    }
    case "quarantined":
      return {
        at,
        kind: "quarantined",
        tone: "warn",
        text: "in quarantine: it cannot be used",
        detail: lastError,
      };
    case "done":
      break;
  }
  return { at, kind: "done", tone: "good", ...doneWords(attempts, bytes, lastError, detail) };
}

function doneWords(
  attempts: number,
  bytes: number | null,
  lastError: string | null,
  detail: string | null,
): Pick<Described, "text" | "detail"> {
  if (bytes === null)
    return { text: "done", detail: "A discard or retention has deleted its payload and past." };
  const whyNot = whyNotHandedOff({ state: "done", attempts, lastError });
  if (whyNot !== null) return { text: whyNot };
  if (attempts === 0) return { text: "done without a hand-off: no callback is for its type" };
  return { text: `hand-off ${attempts} succeeded: done`, detail };
}
