import { MOST_PAST_STEPS } from "../../kit/inbox/stored-events.js";
import { inboxSteps, type TracedEvent } from "./inbox-steps.js";
import { CLOCK_SLACK_MS, senderSteps, type SentDelivery } from "./sender-steps.js";
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
