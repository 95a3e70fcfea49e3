import { isSignalboxError, SignalboxError } from "../../base/errors.js";
import { nextTurn } from "../../base/time/timers.js";
import type { ReplayOutcome } from "./stored-events.js";

/** Most events in one transaction of `replay` or `discard`. */
const AT_ONCE = 50;

/**
 * Moves a portion of the events in each turn of the event loop, because each transaction blocks the
 * event loop.
 *
 * @throws SignalboxError the error of `move`; after the first portion, its message says how many
 * events were moved
 */
export async function inPortions<Outcome extends ReplayOutcome>(
  eventIds: readonly string[],
  move: (eventIds: readonly string[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let from = 0; from < eventIds.length; from += AT_ONCE) {
    if (from > 0) await nextTurn();
    try {
      outcomes.push(...(await move(eventIds.slice(from, from + AT_ONCE))));
    } catch (error) {
      if (from === 0 || !isSignalboxError(error)) throw error;
      const moved = outcomes.filter((outcome) => outcome === "moved").length;
      const message = `Of the first ${from} of ${eventIds.length} events ${moved} were moved. The others failed: ${error.message}`;
      throw new SignalboxError(error.code, message, "", { cause: error });
    }
  }
  return outcomes;
}
