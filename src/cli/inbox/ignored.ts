import { formatCount } from "../../base/text/format.js";
import { DAY_MS } from "../../base/time/units.js";
import type { OpenInbox } from "../../kit/inbox/open-inbox.js";
import { isIgnored, NO_HANDLER } from "../../kit/inbox/done-reasons.js";
import { printable, someNames } from "../console/terminal.js";

/**
 * A misspelt key of `onEvent` shows in this alone: its events are done, and no error tells it.
 *
 * @returns null when the endpoint ignored nothing in the last 24 hours
 */
export async function ignoredText(inbox: OpenInbox, now: number): Promise<string | null> {
  const receivedAfter = now - DAY_MS;
  const query = { state: "done", error: NO_HANDLER, receivedAfter, limit: 500 } as const;
  const { entries, nextBeforeSeq } = await inbox.search(query);
  const ignored = entries.filter(isIgnored);
  if (ignored.length === 0) return null;
  const types = new Set(ignored.map(({ type }) => printable(type)));
  const count = `${nextBeforeSeq === null ? "" : "at least "}${formatCount(ignored.length)}`;
  return `${count} ignored in the last 24 hours: onEvent has no function for ${someNames([...types])}`;
}
