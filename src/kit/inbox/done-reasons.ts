import type { InboxEntry } from "./stored-events.js";

/** The `lastError` of an event that is `done` because no function of `onEvent` takes its type. */
export const NO_HANDLER = "no_handler";

/** The `lastError` of an event that `inbox.erase` has erased. */
export const ERASED = "erased";

/**
 * The id of an erased event whose own id was personal is this and the SHA-256 of that id, in hex. A
 * redelivery is looked up under it too.
 */
export const ERASED_ID = "erased:";

/** What tools say of an event that {@link isIgnored}. */
export const IGNORED = "ignored: no function of onEvent takes its type";

/**
 * Whether an event was done at once, because of {@link NO_HANDLER}. Replayed later, it is an event
 * like any other.
 */
export function isIgnored({
  state,
  attempts,
  lastError,
}: Pick<InboxEntry, "state" | "attempts" | "lastError">): boolean {
  return state === "done" && attempts === 0 && lastError === NO_HANDLER;
}

/** The beginning of the `lastError` of an event that is `done` because of a newer one of its burst. */
export const SUPERSEDED = "superseded by";

/** Says of a done event that it was ignored, superseded or erased; null for any other event. */
export function whyNotHandedOff(
  event: Pick<InboxEntry, "state" | "attempts" | "lastError">,
): string | null {
  if (isIgnored(event)) return IGNORED;
  const { state, attempts, lastError } = event;
  const isSuperseded = attempts === 0 && lastError?.startsWith(SUPERSEDED) === true;
  return state === "done" && (isSuperseded || lastError === ERASED) ? lastError : null;
}
