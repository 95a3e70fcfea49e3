import { isSignalboxError } from "../../errors.js";
import { inPortions } from "../../inbox/in-portions.js";
import type { createPageHandler } from "../../inbox-page/page-handler.js";
import { systemClock } from "../../time/clock.js";
import { errorCode } from "../options/exit.js";
import type { OpenInbox } from "./open-inbox.js";

/** Serves the page of an open inbox to browsers on this machine, until `closing` is aborted. */
export async function pageOfInbox(
  { store, endpoint }: OpenInbox,
  { closing, note }: { closing: AbortSignal; note: (line: string) => void },
): Promise<ReturnType<typeof createPageHandler>> {
  const { createPageHandler: create } = await import("../../inbox-page/page-handler.js");
  return create({
    inbox: {
      endpoint,
      search: (query) => store.search(endpoint, query),
      activity: (query) => store.activity(endpoint, query),
      get: (eventId) => store.get(endpoint, eventId),
      stats: () => store.stats(endpoint),
      async replay(eventIds) {
        const { replayEvents } = await import("../../inbox/replay.js");
        const { readAgainBy } = await import("../../receiver/read-stored.js");
        const { builtInSender } = await import("../../senders/built-in.js");
        return inPortions(eventIds, (portion) => replayEvents(store, endpoint, portion, readAgainBy(builtInSender)));
      },
      discard: (eventIds) =>
        inPortions(eventIds, (portion) => store.discard(portion.map((eventId) => ({ endpoint, eventId })))),
    },
    authorize: "loopback",
    clock: systemClock,
    closing,
    report: (error, text) => note(`${text}: ${isSignalboxError(error) ? error.message : errorCode(error)}`),
    // No receiver in this process tells it. The page asks the store.
    onChange: () => () => undefined,
  });
}
