import { InvalidArgumentError, Option } from "#commander";
import { MOMENT_FORMS, parseMoment } from "../../kit/inbox/moment.js";
import type { InboxEntry, SearchQuery } from "../../kit/inbox/stored-events.js";
import { joinedInbox, storedInbox } from "../../page/inbox/page-inbox.js";
import { notEmpty } from "../console/parse-option.js";
import type { OpenInbox } from "./open-inbox.js";
import { readAgain } from "./page-of-inbox.js";

// The terms of the inbox page's search, as options.
export const TYPE = new Option(
  "--type <type>",
  "only events of this type or subtype, such as price_increased",
).argParser(notEmpty);
export const PRODUCT = new Option(
  "--product <slug>",
  "only events about this product or other subject",
).argParser(notEmpty);
export const ERROR = new Option(
  "--error <text>",
  "only events whose last error contains this; … stands for anything",
).argParser(notEmpty);
export const SINCE = new Option(
  "--since <when>",
  "only events received since a day, a time, or 2h ago",
).argParser(moment);
/** For a verdict. What waits, and whether a receiver runs, is always part of it. */
export const JUDGED_SINCE = new Option(
  "--since <when>",
  "judge only what was given up, could not be read or was refused since then",
).argParser(moment);
export const BEFORE = new Option(
  "--before <when>",
  "only events received before a day, a time, or 2h ago",
).argParser(moment);

export interface Filters {
  type?: string | undefined;
  product?: string | undefined;
  error?: string | undefined;
  since?: number | undefined;
  before?: number | undefined;
}

function moment(text: string): number {
  const at = parseMoment(text, Date.now());
  if (at !== null) return at;
  throw new InvalidArgumentError(`Expected ${MOMENT_FORMS}.`);
}

export function queryOf({ type, product, error, since, before }: Filters): SearchQuery {
  const ofType = type?.includes(".") ? { type } : { typeOrSubtype: type };
  return { ...ofType, subject: product, error, receivedAfter: since, receivedBefore: before };
}

export function isFiltered(filters: Filters): boolean {
  return Object.values(queryOf(filters)).some((value) => value !== undefined);
}

/** Most events that one search returns. */
const PAGE = 500;

/** All entries that match, the newest first, page by page. */
export async function* searchPages(
  { store, endpoints }: OpenInbox,
  query: Omit<SearchQuery, "limit">,
): AsyncGenerator<InboxEntry[]> {
  const { search } = joinedInbox(
    endpoints.map((endpoint) => storedInbox(endpoint, store, readAgain)),
  );
  let { beforeSeq } = query;
  for (;;) {
    const { entries, nextBeforeSeq } = await search({ ...query, beforeSeq, limit: PAGE });
    if (entries.length > 0) yield entries;
    if (nextBeforeSeq === null) return;
    beforeSeq = nextBeforeSeq;
  }
}
