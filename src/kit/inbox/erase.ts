import { safely } from "../../base/errors.js";
import { nextTurn } from "../../base/time/timers.js";
import type { InboxStore } from "./store.js";
import { ERASED, type StoredEvent } from "./stored-events.js";

/** Which events `inbox.erase` erases. */
export type EraseQuery =
  | { ids: readonly string[] }
  /** Those with exactly this subject. */
  | { subject: string }
  /**
   * Those that have this text, of at least 4 characters, whatever the case of its letters: in their
   * id, subject, errors, headers or body, also as JSON and forms write it. Each body is read.
   */
  | { containing: string };

/** The result of `inbox.erase`. */
export interface Erasure {
  /** How many events were erased. No query finds what they had. */
  erased: number;
  /** Whether the files of the inbox are free of it too. */
  files: "clean" | "not yet";
  /** Why not yet, and what to do; null when they are clean. */
  why: string | null;
}

/** How many events are found at a time. */
const PAGE = 50;

/** Finds the ids of the events, page by page. */
export async function* eventsToErase(
  store: InboxStore,
  endpoint: string,
  query: EraseQuery,
): AsyncGenerator<readonly string[]> {
  if ("ids" in query) return yield query.ids;
  if ("containing" in query) {
    const mentioning = store.mentioning ?? readMentioning;
    for (let at: number | null = 0; at !== null; await nextTurn()) {
      const found: Mentioning = await mentioning.call(store, endpoint, query.containing, at);
      yield found.eventIds;
      at = found.next;
    }
    return;
  }
  const { subject } = query;
  for (let beforeSeq: number | null | undefined; beforeSeq !== null;) {
    const page = await store.search(endpoint, { subject, beforeSeq, limit: PAGE });
    yield page.entries.map(({ eventId }) => eventId);
    beforeSeq = page.nextBeforeSeq;
  }
}

/** A page of the events that have a text. */
export interface Mentioning {
  eventIds: string[];
  /** To continue, pass it as `afterSeq`; null at the end. */
  next: number | null;
}

/** For a store that has no thread for it. */
async function readMentioning(
  this: InboxStore,
  endpoint: string,
  text: string,
  afterSeq: number,
): Promise<Mentioning> {
  const page = await this.list({ endpoint, afterSeq, limit: PAGE });
  const events = await Promise.all(page.map(({ eventId }) => this.get(endpoint, eventId)));
  return mentioningOf(page, events, text);
}

/** @param page as `list` returns it, with its `events` */
export function mentioningOf(
  page: readonly { seq: number }[],
  events: readonly (StoredEvent | undefined)[],
  text: string,
): Mentioning {
  const found = events.filter((event) => event !== undefined && mentions(event, text));
  return {
    eventIds: found.map((event) => (event as StoredEvent).eventId),
    next: page.at(-1)?.seq ?? null,
  };
}

function mentions(event: StoredEvent, text: string): boolean {
  const { eventId, subject, lastError, received, rawBody, history } = event;
  if (lastError === ERASED && rawBody === null) return false;
  const errors = history.map(({ error }) => error);
  const body = rawBody === null ? "" : Buffer.from(rawBody).toString();
  const whole = [eventId, subject, lastError, ...errors, JSON.stringify(received), body].join("\n");
  const wanted = text.toLowerCase();
  const forms = [String, unescaped, formDecoded, (each: string) => unescaped(formDecoded(each))];
  return forms.some((read) => read(whole).toLowerCase().includes(wanted));
}

/** As JSON reads it. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(u[0-9a-f]{4}|["\\/bfnrt])/gi, (found) =>
    safely(() => JSON.parse(`"${found}"`) as string, found),
  );
}

function formDecoded(text: string): string {
  return text
    .replaceAll("+", " ")
    .replaceAll(/(%[0-9a-f]{2})+/gi, (found) => safely(() => decodeURIComponent(found), found));
}
