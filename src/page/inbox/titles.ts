import { parseJson, type ParsedJson } from "../../base/text/parse-json.js";
import { nextTurn } from "../../base/time/timers.js";
import { DEFAULT_SENDER, type InboxEntry } from "../../kit/inbox/stored-events.js";
import type { PageInbox } from "./page-inbox.js";

const LONGEST = 300;
/** A larger body is not parsed, because the host application waits meanwhile. */
const MOST_PARSED_BYTES = 131_072;
const MOST_KEPT = 10_000;

/**
 * Finds the titles of signals for a list. A title never changes, so each is read from the store
 * once.
 */
export function createTitles(inbox: Pick<PageInbox, "get" | "keyOf">) {
  const kept = new Map<string, string | null>();

  async function titleOf(entry: InboxEntry): Promise<string | null> {
    if (entry.sender !== DEFAULT_SENDER) return null;
    const key = inbox.keyOf(entry);
    const known = kept.get(key);
    if (known !== undefined) return known;
    // A payload can be large: other work of the process comes between two of them.
    await nextTurn();
    const body = (await inbox.get(key))?.rawBody;
    const title = body == null ? null : titleIn(parseSmall(body));
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, title);
    return title;
  }

  /** One after the other: a page must not take the connections of a receiver. */
  return async (entries: readonly InboxEntry[]): Promise<(string | null)[]> => {
    const titles: (string | null)[] = [];
    for (const entry of entries) titles.push(await titleOf(entry));
    return titles;
  };
}

/** @returns null for a body that is too large to be parsed here */
export function parseSmall(body: Uint8Array): ParsedJson | null {
  return body.byteLength > MOST_PARSED_BYTES ? null : parseJson(body);
}

/** The title in the payload of a signal; null when it has none. */
export function titleIn(json: ParsedJson | null): string | null {
  const { data } = (json?.ok ? (json.value ?? {}) : {}) as { data?: { title?: unknown } | null };
  const title = data?.title;
  return typeof title === "string" && title.trim() !== ""
    ? title.slice(0, LONGEST).toWellFormed()
    : null;
}
