import { SignalboxError } from "../../base/errors.js";
import { LONGEST_DELAY_MS } from "../../base/time/units.js";
import type { EventState, StoredEvent } from "../inbox/stored-events.js";
import type { Receiver } from "../receiver/receiver.js";

/** The options of `waitForEvent`. */
export interface WaitForEventOptions {
  /** @default "done" */
  state?: Exclude<EventState, "leased"> | undefined;
  /**
   * Milliseconds of real time, whatever the receiver's clock is. The default is less than the 5
   * seconds after which most test runners end a test. @default 4000
   */
  timeoutMs?: number | undefined;
}

export const DEFAULT_TIMEOUT_MS = 4000;
const LONGEST_PAUSE_MS = 50;

/**
 * Waits until an event of a started receiver is `done`, or in another given state. The event may
 * arrive after this call.
 *
 * @returns the event as `receiver.inbox.get` gives it
 * @throws SignalboxError `wait_failed` after `timeoutMs`, and immediately when the event ended in
 * another state, such as dead instead of done; the message contains the event's state and last
 * error
 * @throws SignalboxError `option_invalid` for a `timeoutMs` that is not a number of milliseconds
 * @throws SignalboxError `store_failed` when the receiver is not started, or closed
 * @example
 * await waitForEvent(receiver, event.id);
 * await waitForEvent(receiver, event.id, { state: "dead" });
 */
export async function waitForEvent(
  receiver: Pick<Receiver, "inbox">,
  eventId: string,
  options: WaitForEventOptions = {},
): Promise<StoredEvent> {
  const { state: wanted = "done", timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  if (!(timeoutMs >= 0 && timeoutMs <= LONGEST_DELAY_MS)) {
    const help = `Pass milliseconds from 0 to ${LONGEST_DELAY_MS}.`;
    throw new SignalboxError(
      "option_invalid",
      'The option "timeoutMs" of waitForEvent is invalid.',
      help,
    );
  }
  const endsAt = performance.now() + timeoutMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const entry = await receiver.inbox.get(eventId);
    if (entry?.state === wanted) return entry;
    // An event gets to the wanted state from these alone, without a replay or a discard.
    const isWaiting =
      wanted !== "quarantined" && (entry?.state === "ready" || entry?.state === "leased");
    if (entry !== undefined && !isWaiting) throw waitFailed(entry, `and cannot become ${wanted}`);
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) {
      if (entry !== undefined) throw waitFailed(entry, `after ${timeoutMs} ms`);
      const help =
        "Check the answer to its delivery. A quarantined event may have another id, which inbox.list() shows.";
      const message = `No event with the id ${eventId} was accepted within ${timeoutMs} ms.`;
      throw new SignalboxError("wait_failed", message, help);
    }
    await new Promise((resume) => setTimeout(resume, Math.min(pauseMs, leftMs)));
  }
}

function waitFailed(
  { eventId, state, attempts, dueAt, lastError, waitsBehind }: StoredEvent,
  how: string,
): SignalboxError {
  const tried = `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
  const due =
    waitsBehind !== null
      ? `, behind ${waitsBehind}`
      : state === "ready"
        ? `, due at ${new Date(dueAt).toISOString()}`
        : "";
  const error = lastError === null ? "" : ` Its last error: ${lastError}`;
  const message = `The event ${eventId} is ${state} ${how} (${tried}${due}).`;
  return new SignalboxError("wait_failed", message, `${HELP[state]}${error}`);
}

const HELP: Readonly<Record<EventState, string>> = {
  ready: "It is handed off again when it is due; advance a manual clock until then.",
  leased: "Its callback is still running.",
  done: "",
  dead: "Fix the callback and replay the event, or wait for the state dead.",
  quarantined: "The event could not be used, so no callback gets it.",
};
