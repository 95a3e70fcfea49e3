import { InvalidArgumentError, Option, type Command, type OptionValues } from "#commander";
import type { EraseQuery } from "../../kit/inbox/deleting/erase.js";
import type { OpenInbox } from "../../kit/inbox/open-inbox.js";
import type { InboxEntry, SearchQuery, StoredEvent } from "../../kit/inbox/stored-events.js";
import { MOMENT_FORMS, parseMoment, typeTerm } from "../../page/inbox/parse-search.js";
import { CliError, EXIT, usageError } from "../console/exit.js";
import { notEmpty } from "../console/options.js";
import { echoed, printable, type Terminal } from "../console/terminal.js";
import type { CommandInbox } from "./open-inbox.js";

/** For a verdict. What waits, and whether a receiver runs, is always part of it. */
export const JUDGED_SINCE = new Option(
  "--since <when>",
  "judge only what was given up, could not be read or was refused since then",
).argParser(moment);
/** The terms of the inbox page's search, as options. */
export function addFilters<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  // Not in the chain, whose type would become too long for the compiler.
  command.option("--tenant <name>", "only events of this tenant", notEmpty);
  return command
    .option(
      "--type <type>",
      "only events of this type or subtype, such as price_increased",
      notEmpty,
    )
    .option("--product <slug>", "only events about this product or other subject", notEmpty)
    .option(
      "--error <text>",
      "only events whose last error contains this; … stands for anything",
      notEmpty,
    )
    .option("--since <when>", "only events received since a day, a time, or 2h ago", moment)
    .option("--before <when>", "only events received before a day, a time, or 2h ago", moment);
}

export interface Filters {
  type?: string | undefined;
  product?: string | undefined;
  tenant?: string | undefined;
  error?: string | undefined;
  since?: number | undefined;
  before?: number | undefined;
}

function moment(text: string): number {
  const at = parseMoment(text, Date.now());
  if (at !== null) return at;
  throw new InvalidArgumentError(`Expected ${MOMENT_FORMS}.`);
}

export function queryOf({ type, product, tenant, error, since, before }: Filters): SearchQuery {
  return {
    ...(type && typeTerm(type)),
    subject: product,
    eventId: tenant && `${tenant}/`,
    error,
    receivedAfter: since,
    receivedBefore: before,
  };
}

export function isFiltered(filters: Filters): boolean {
  return Object.values(queryOf(filters)).some((value) => value !== undefined);
}

/** Most events that one search returns. */
const PAGE = 500;

/** All entries that match, the newest first, page by page. */
export async function* searchPages(
  { search }: Pick<CommandInbox, "search">,
  query: Omit<SearchQuery, "limit"> & { endpoint?: string },
): AsyncGenerator<InboxEntry[]> {
  let { beforeSeq } = query;
  for (;;) {
    const { entries, nextBeforeSeq } = await search({ ...query, beforeSeq, limit: PAGE });
    if (entries.length > 0) yield entries;
    if (nextBeforeSeq === null) return;
    beforeSeq = nextBeforeSeq;
  }
}

/**
 * An event without a usable id has the hash of its bytes as its id. Tables show this number of
 * digits of the hash.
 */
const SHOWN_DIGITS = 16;
const HASH = /^sha256:[0-9a-f]{64}$/;
const SHORT_HASH = /^sha256:[0-9a-f]{8,63}$/;

/** The id as tables show it; with `isNarrow` at most 21 characters. `findEvent` knows it. */
export function shortId(eventId: string, isNarrow = false): string {
  if (HASH.test(eventId)) return eventId.slice(0, "sha256:".length + SHOWN_DIGITS);
  const id = printable(eventId);
  return isNarrow && id.length > 24 ? `${id.slice(0, 12)}…${id.slice(-8)}` : id;
}

/** The options of commands for what is stored of a person; see {@link queriesOf}. */
export function addMentions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .argument("[id...]", "the events' ids")
    .option("--subject <subject>", "only events about exactly this", notEmpty)
    .option("--containing <text>", "only events that have this text; each body is read", notEmpty)
    .option("--tenant <name>", "only events of this tenant", notEmpty);
}

/**
 * What {@link addMentions} asks for, with the inbox that each query is for. Ids that are nowhere are
 * noted, and are `missing`. @throws CliError when one is in several endpoints
 */
export async function queriesOf(
  { inboxes }: Pick<CommandInbox, "inboxes">,
  ids: readonly string[],
  { subject, containing, tenant }: { subject?: string; containing?: string; tenant?: string },
  terminal: Pick<Terminal, "note">,
): Promise<{ queries: [OpenInbox, EraseQuery][]; missing: number }> {
  if (ids.length === 0) {
    const query = { subject, containing, tenant } as EraseQuery;
    return { queries: inboxes.map((inbox) => [inbox, query]), missing: 0 };
  }
  if ((subject ?? containing ?? tenant) !== undefined)
    throw usageError("give either ids, or --subject, --containing or --tenant, not both");
  const found = new Map<OpenInbox, Set<string>>(inboxes.map((inbox) => [inbox, new Set()]));
  let missing = 0;
  for (const id of ids) {
    const event = await findEvent({ inboxes }, id);
    const inbox = inboxes.find(({ endpoint }) => endpoint === event?.endpoint);
    if (event !== undefined && inbox !== undefined) found.get(inbox)?.add(event.eventId);
    else {
      missing += 1;
      terminal.note(`no event ${echoed(id)} in this inbox`);
    }
  }
  const some = [...found].filter(([, its]) => its.size > 0);
  return { queries: some.map(([inbox, its]) => [inbox, { ids: [...its] }]), missing };
}

/**
 * Finds an event in whichever endpoint it is. `typed` is its id, the start of a hash, an id that
 * `ls` has shortened, or a delivery key (`endpoint/id`) from the log. @throws CliError when it is in several
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
  const [start = "", end] = id.split("…");
  if (!SHORT_HASH.test(id) && end === undefined) return id === typed ? undefined : inbox.get(id);
  // As many characters as `ls` prints.
  if (end !== undefined && (start.length < 12 || end.length < 8)) return undefined;
  const found: string[] = [];
  for await (const page of searchPages(inbox, { eventId: start })) {
    for (const { eventId } of page) if (eventId.endsWith(end ?? "")) found.push(eventId);
    if (found.length > 1)
      throw new CliError(
        EXIT.failed,
        `several events have an id like ${echoed(id)}: type more of it`,
      );
  }
  return found[0] === undefined ? undefined : inbox.get(found[0]);
}
