import { formatAge, formatCount, formatDuration } from "../../../base/text/format.js";
import {
  DEFAULT_SENDER,
  type EventState,
  IGNORED,
  type InboxEntry,
  isIgnored,
} from "../../../kit/inbox/stored-events.js";
import type { Tone } from "../../parts/index.js";
import type { EventAnswer } from "../inbox-api.js";

/** In the order of an event's life, with the words that a reader has for them. */
export const STATES: readonly { state: EventState; tone: Tone; word: string }[] = [
  { state: "ready", tone: "warn", word: "waiting" },
  { state: "leased", tone: "busy", word: "running" },
  { state: "done", tone: "good", word: "done" },
  { state: "dead", tone: "bad", word: "given up" },
  { state: "quarantined", tone: "bad", word: "unreadable" },
];

export const wordOf = (state: EventState): string =>
  STATES.find((each) => each.state === state)?.word ?? state;

export function toneOf(state: EventState): Tone {
  return STATES.find((each) => each.state === state)?.tone ?? "idle";
}

/** What happens next to the event, in a sentence. */
export function nextStep(event: EventAnswer, now: number): string {
  const { state, attempts, dueAt, bytes, lastError } = event;
  const reason = firstLine(lastError ?? "unknown");
  const tried = attempts === 0 ? "" : ` ${formatCount(attempts, "attempt")} failed before.`;
  const words: Record<EventState, string> = {
    ready:
      dueAt > now
        ? `The next attempt is due in ${formatAge(dueAt - now)}.${tried}`
        : `It is due now: the receiver hands it off when it runs, is free, and does not pause hand-offs.${tried}`,
    leased: `It is being handed off now.${tried}`,
    done: `Nothing more happens${isIgnored(event) ? `, it was ${IGNORED}` : ""}.${bytes === null ? " Its payload is deleted." : ""}`,
    dead: `It was given up after ${formatCount(attempts, "attempt")}. It is kept until you replay or discard it.`,
    quarantined: `It is authentic, but it cannot be used: ${reason}. It is kept until you replay or discard it.`,
  };
  return words[state];
}

/** What the event is, in the words of its sender. */
export function headlineOf(
  event: Pick<InboxEntry, "type" | "subtype" | "subject" | "sender" | "lastError">,
): {
  text: string;
  about: string;
} {
  const { type, subtype, subject, sender, lastError } = event;
  if (type === "") return { text: firstLine(lastError ?? "unknown"), about: "" };
  // The type of a signal says more than that it is one.
  const isSignal = sender === DEFAULT_SENDER && subtype !== null;
  const text = isSignal ? subtype : [type, subtype].filter((word) => word !== null).join(" ");
  return { text: text, about: subject ?? "" };
}

/** What came of the event so far: how long it took, or why it waits. */
export function outcomeOf(event: InboxEntry, now: number, isPaused: boolean): string {
  const { state, attempts, dueAt, receivedAt, lastError } = event;
  if (isIgnored(event)) return "ignored";
  const due = dueAt > now ? `in ${formatAge(dueAt - now)}` : "is due";
  const words: Record<EventState, string> = {
    ready: isPaused ? "paused" : `try ${attempts + 1} ${due}`,
    leased: "",
    done: formatDuration(dueAt - receivedAt),
    dead: "",
    quarantined: "",
  };
  const tries = attempts > 1 && `${attempts} tries`;
  const error = state !== "done" && firstLine(lastError ?? "");
  return [words[state], tries, error].filter(Boolean).join(" · ");
}

/** The name, and the start of the message. */
export function firstLine(error: string): string {
  return error.split("\n", 1)[0] ?? "";
}
