import { formatAge, formatCount, formatDuration } from "../../../base/text/format.js";
import type { SituationFacts } from "../../../kit/inbox/situation/situation.js";
import { isIgnored, whyNotHandedOff } from "../../../kit/inbox/done-reasons.js";
import {
  DEFAULT_SENDER,
  type EventState,
  type InboxEntry,
  NEVER,
} from "../../../kit/inbox/stored-events.js";
import type { Tone } from "../../parts/index.js";
import type { EventAnswer } from "../inbox-api.js";

/** With the words that a reader has for them. */
const STATES: Readonly<Record<EventState, readonly [Tone, word: string]>> = {
  ready: ["warn", "waiting"],
  leased: ["busy", "running"],
  done: ["good", "done"],
  dead: ["bad", "given up"],
  quarantined: ["bad", "unreadable"],
};

export const toneOf = (state: EventState): Tone => STATES[state][0];
export const wordOf = (state: EventState): string => STATES[state][1];

/**
 * What became of the event, and what is next.
 *
 * @param facts of its endpoint; undefined while they are not known
 */
export function nextStep(
  event: EventAnswer,
  now: number,
  facts: Pick<SituationFacts, "pause" | "hasReceiver"> | undefined,
): string {
  const { attempts, dueAt, bytes, endpoint, receivedAt, replayed, heldCount } = event;
  const tries = attempts === 1 ? "1 try" : `${attempts} tries`;
  const kept = "It is kept until you replay or discard it.";
  const { pause, hasReceiver } = facts ?? {};
  const next = pause?.nextTryAt ?? dueAt;
  const waits = pause ? `hand-offs of ${endpoint} are paused, ` : "";
  const took = replayed ? "after a replay" : `in ${formatDuration(dueAt - receivedAt)}`;
  const done =
    attempts === 0 ? "without a hand-off" : `${took}, ${attempts === 1 ? "1st try" : tries}`;
  const whyNot = whyNotHandedOff(event);
  const held =
    heldCount === 0 ? "" : `Behind it: ${formatCount(heldCount, "event")} with the same key. `;
  const words: Record<EventState, string> = {
    ready:
      dueAt === NEVER
        ? `Waits behind ${event.waitsBehind ?? "another event"}, which has the same key.`
        : hasReceiver === false
          ? `Waits: no receiver of ${endpoint} runs.`
          : `Waits: ${waits}next try ${next > now ? `in ${formatAge(next - now)}` : "now"}.`,
    leased: `Try ${attempts + 1} runs.`,
    done: whyNot ? `${whyNot}.` : bytes === null ? "Its payload is deleted." : `Done ${done}.`,
    dead: `Given up after ${tries}. ${held}${kept}`,
    quarantined: `It is authentic, but cannot be used: ${firstLine(event.lastError ?? "")}. ${kept}`,
  };
  return words[event.state];
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
  return { text, about: subject ?? "" };
}

/** What came of the event so far: how long it took, or why it waits. */
export function outcomeOf(event: InboxEntry, now: number, isPaused: boolean): string {
  const { state, attempts, dueAt, receivedAt, lastError } = event;
  const whyNot = isIgnored(event) ? "ignored" : whyNotHandedOff(event);
  if (whyNot !== null) return whyNot;
  const due = dueAt > now ? `in ${formatAge(dueAt - now)}` : "is due";
  const words: Record<EventState, string> = {
    ready: dueAt === NEVER ? "waits its turn" : isPaused ? "paused" : `try ${attempts + 1} ${due}`,
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
