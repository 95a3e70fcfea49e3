import { isSignalboxError } from "../../base/errors.js";
import type { createPageHandler } from "../../page/inbox/page-handler.js";
import type { InboxStore } from "../../kit/inbox/store.js";
import { systemClock } from "../../base/time/clock.js";
import { errorCode } from "../console/exit.js";

/**
 * Serves the page of open endpoints of a store to browsers on this machine, until `closing` is
 * aborted.
 */
export async function pageOfInbox(
  { store, endpoints }: { store: InboxStore; endpoints: readonly string[] },
  { closing, note }: { closing: AbortSignal; note: (line: string) => void },
): Promise<ReturnType<typeof createPageHandler>> {
  const { createPageHandler: create } = await import("../../page/inbox/page-handler.js");
  const { joinedInbox, storedInbox } = await import("../../page/inbox/page-inbox.js");
  return create({
    inbox: joinedInbox(endpoints.map((endpoint) => storedInbox(endpoint, store, readAgain))),
    authorize: "loopback",
    clock: systemClock,
    closing,
    report: (error, text) =>
      note(`${text}: ${isSignalboxError(error) ? error.message : errorCode(error)}`),
    // No receiver in this process tells it. The page asks the store.
    onChange: () => () => undefined,
  });
}

/** Reads a stored event as its sender does. */
export async function readAgain() {
  const { readAgainBy } = await import("../../kit/receiver/read-stored.js");
  const { builtInSender } = await import("../../kit/senders/built-in.js");
  return readAgainBy(builtInSender);
}
