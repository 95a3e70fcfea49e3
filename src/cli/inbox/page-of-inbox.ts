import { isSignalboxError } from "../../errors.js";
import type { createPageHandler } from "../../inbox-page/page-handler.js";
import type { InboxStore } from "../../inbox/store.js";
import { systemClock } from "../../time/clock.js";
import { errorCode } from "../options/exit.js";

/** Serves the page of open endpoints of a store to browsers on this machine, until `closing` is aborted. */
export async function pageOfInbox(
  { store, endpoints }: { store: InboxStore; endpoints: readonly string[] },
  { closing, note }: { closing: AbortSignal; note: (line: string) => void },
): Promise<ReturnType<typeof createPageHandler>> {
  const { createPageHandler: create } = await import("../../inbox-page/page-handler.js");
  const { joinedInbox, storedInbox } = await import("../../inbox-page/page-inbox.js");
  return create({
    inbox: joinedInbox(endpoints.map((endpoint) => storedInbox(endpoint, store, readAgain))),
    authorize: "loopback",
    clock: systemClock,
    closing,
    report: (error, text) => note(`${text}: ${isSignalboxError(error) ? error.message : errorCode(error)}`),
    // No receiver in this process tells it. The page asks the store.
    onChange: () => () => undefined,
  });
}

/** Reads a stored event as its sender does. */
export async function readAgain() {
  const { readAgainBy } = await import("../../receiver/read-stored.js");
  const { builtInSender } = await import("../../senders/built-in.js");
  return readAgainBy(builtInSender);
}
