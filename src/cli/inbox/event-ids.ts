import type { EventKey } from "../../inbox/store.js";
import { CliError, EXIT, usageError } from "../options/exit.js";
import { echoed, printable } from "../console/printable.js";
import { listPages, type OpenInbox } from "./open-inbox.js";

/** An event without a usable id has the hash of its bytes as its id. Tables show this number of digits of the hash. */
const SHOWN_DIGITS = 16;
const HASH = /^sha256:[0-9a-f]{64}$/;
const SHORT_HASH = /^sha256:[0-9a-f]{8,63}$/;

/** The id as tables show it. */
export function shortId(eventId: string): string {
  return HASH.test(eventId) ? eventId.slice(0, "sha256:".length + SHOWN_DIGITS) : printable(eventId);
}

/**
 * Finds an event in whichever endpoint it is. `typed` is its id, the start of a hash, or a delivery key (`endpoint/id`) from the log.
 *
 * @throws CliError when several events have this id
 */
export async function findEvent({ store, endpoints }: OpenInbox, typed: string): Promise<EventKey | undefined> {
  const found: EventKey[] = [];
  for (const endpoint of endpoints) {
    if ((await store.get(endpoint, typed)) !== undefined) found.push({ endpoint, eventId: typed });
  }
  for (const endpoint of found.length === 0 ? endpoints : []) {
    const prefix = `${endpoint}/`;
    const eventId = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
    if (eventId !== typed && (await store.get(endpoint, eventId)) !== undefined) return { endpoint, eventId };
    if (!SHORT_HASH.test(eventId)) continue;
    // Only quarantined events have a hash as their id.
    for await (const page of listPages(store, { endpoint, state: "quarantined" })) {
      found.push(...page.filter((entry) => entry.eventId.startsWith(eventId)));
    }
  }
  const names = [...new Set(found.map(({ endpoint }) => endpoint))];
  if (names.length > 1) {
    const places = names.map((name) => `"${echoed(name)}"`).join(" and ");
    throw usageError(`${echoed(typed)} is in the endpoints ${places}: give --endpoint`);
  }
  if (found.length > 1)
    throw new CliError(EXIT.failed, `${found.length} events have an id that starts with ${typed}: type more digits`);
  return found[0];
}
