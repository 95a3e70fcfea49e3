import { safely } from "../../../base/errors.js";
import { ERASED, whyNotHandedOff } from "../done-reasons.js";
import type { InboxEntry, StoredEvent } from "../stored-events.js";

/** The events of a page that have a text. */
export interface Mentioning {
  events: Pick<InboxEntry, "endpoint" | "eventId">[];
  /** To continue, pass it as `afterSeq`; null at the end. */
  next: number | null;
}

/** @param page as `list` returns it, with its `events` */
export function mentioningOf(
  page: readonly InboxEntry[],
  events: readonly (StoredEvent | undefined)[],
  text: string,
): Mentioning {
  const found = events.flatMap((event) =>
    event !== undefined && mentions(event, text)
      ? { endpoint: event.endpoint, eventId: event.eventId }
      : [],
  );
  return { events: found, next: page.at(-1)?.seq ?? null };
}

function mentions(event: StoredEvent, text: string): boolean {
  const { eventId, subject, lastError, received, history, rawBody } = event;
  if (lastError === ERASED && rawBody === null) return false;
  // What has superseded it is another event, whose erasure hides its id here.
  const error = whyNotHandedOff(event) === null ? lastError : null;
  const facts = JSON.stringify([eventId, subject, error, received, history]);
  const whole = facts + Buffer.from(rawBody ?? []).toString();
  const wanted = text.toLowerCase();
  const formDecoded = decoded(whole.replaceAll("+", " "), /(%[0-9a-f]{2})+/gi, decodeURIComponent);
  return [whole, formDecoded].some(
    (each) =>
      each.toLowerCase().includes(wanted) ||
      decoded(each, /\\(u[0-9a-f]{4}|.)/gi, (escape) => JSON.parse(`"${escape}"`) as string)
        .toLowerCase()
        .includes(wanted),
  );
}

function decoded(text: string, escapes: RegExp, decode: (escape: string) => string): string {
  return text.replaceAll(escapes, (escape) => safely(() => decode(escape), escape));
}
