import type { OpenInbox } from "../../kit/inbox/open-inbox.js";
import type { StoredEvent } from "../../kit/inbox/stored-events.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { echoed, printable } from "../console/printable.js";
import type { CommandInbox } from "./open-inbox.js";

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
 * Finds an event in whichever endpoint it is. `typed` is its id, the start of a hash, or a delivery
 * key (`endpoint/id`) from the log. @throws CliError when it is in several
 */
export async function findEvent(
  { inboxes }: Pick<CommandInbox, "inboxes">,
  typed: string,
): Promise<StoredEvent | undefined> {
  const each = await Promise.all(inboxes.map((inbox) => eventOf(inbox, typed)));
  const found = each.filter((event) => event !== undefined);
  if (found.length <= 1) return found[0];
  const names = found.map(({ endpoint }) => `"${echoed(endpoint)}"`);
  throw usageError(`${echoed(typed)} is in the endpoints ${names.join(" and ")}: give --endpoint`);
}

async function eventOf(inbox: OpenInbox, typed: string): Promise<StoredEvent | undefined> {
  const event = await inbox.get(typed);
  if (event !== undefined) return event;
  const prefix = `${inbox.endpoint}/`;
  const id = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  if (!SHORT_HASH.test(id)) return id === typed ? undefined : inbox.get(id);
  const { entries } = await inbox.search({ eventId: id, limit: 2 });
  if (entries.length > 1)
    throw new CliError(
      EXIT.failed,
      `several events have an id that starts with ${id}: type more digits`,
    );
  return entries[0] && inbox.get(entries[0].eventId);
}
