import { isSignalboxError } from "../../base/errors.js";
import type { createPageHandler } from "../../page/inbox/page-handler.js";
import type { PageInbox } from "../../page/inbox/page-inbox.js";
import { systemClock } from "../../base/time/clock.js";
import { errorCode } from "../console/exit.js";

/** Serves the page of an open inbox to browsers on this machine, until `closing` is aborted. */
export async function pageOfInbox(
  inbox: PageInbox,
  { closing, note }: { closing: AbortSignal; note: (line: string) => void },
): Promise<ReturnType<typeof createPageHandler>> {
  const { createPageHandler: create } = await import("../../page/inbox/page-handler.js");
  return create({
    inbox,
    authorize: "loopback",
    clock: systemClock,
    closing,
    report: (error, text) =>
      note(`${text}: ${isSignalboxError(error) ? error.message : errorCode(error)}`),
    // No receiver in this process tells it. The page asks the store.
    onChange: () => () => undefined,
  });
}
