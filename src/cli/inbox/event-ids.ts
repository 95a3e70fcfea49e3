import type { EventKey, InboxStore } from "../../kit/inbox/store.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { echoed, printable } from "../console/printable.js";
import type { OpenInbox } from "./open-inbox.js";

/**
 * An event without a usable id has the hash of its bytes as its id. Tables show this number of
 * digits of the hash.
 */
const SHOWN_DIGITS = 16;
const HASH = /^sha256:[0-9a-f]{64}$/;
const SHORT_HASH = /^sha256:[0-9a-f]{8,63}$/;

/** The id as tables show it. */
export function shortId(eventId: string): string {
  return HASH.test(eventId)
    ? eventId.slice(0, "sha256:".length + SHOWN_DIGITS)
    : printable(eventId);
}

/**
 * Finds an event in whichever endpoint it is. `typed` as in {@link fullId}. @throws CliError when
 * it is in several
 */
export async function findEvent(
  { store, endpoints }: OpenInbox,
  typed: string,
): Promise<EventKey | undefined> {
  const found: EventKey[] = [];
  for (const endpoint of endpoints) {
    const eventId = await fullId(store, endpoint, typed);
    if ((await store.get(endpoint, eventId)) !== undefined) found.push({ endpoint, eventId });
  }
  if (found.length <= 1) return found[0];
  const names = found.map(({ endpoint }) => `"${echoed(endpoint)}"`);
  throw usageError(`${echoed(typed)} is in the endpoints ${names.join(" and ")}: give --endpoint`);
}

/**
 * Finds the id of an event. `typed` is the id, the start of a hash, or a delivery key
 * (`endpoint/id`) from the log.
 */
async function fullId(store: InboxStore, endpoint: string, typed: string): Promise<string> {
  if ((await store.get(endpoint, typed)) !== undefined) return typed;
  const prefix = `${endpoint}/`;
  const id = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  if (!SHORT_HASH.test(id)) return id;
  const { entries } = await store.search(endpoint, { eventId: id, limit: 2 });
  if (entries.length > 1)
    throw new CliError(
      EXIT.failed,
      `several events have an id that starts with ${id}: type more digits`,
    );
  return entries[0]?.eventId ?? id;
}
