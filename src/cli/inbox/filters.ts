import { InvalidArgumentError, Option, type Command, type OptionValues } from "#commander";
import type { InboxEntry, SearchQuery } from "../../kit/inbox/stored-events.js";
import { MOMENT_FORMS, parseMoment, typeTerm } from "../../page/inbox/parse-search.js";
import { notEmpty } from "../console/parse-option.js";
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
  return {
    ...(type && typeTerm(type)),
    subject: product,
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
  { search }: CommandInbox,
  query: Omit<SearchQuery, "limit">,
): AsyncGenerator<InboxEntry[]> {
  let { beforeSeq } = query;
  for (;;) {
    const { entries, nextBeforeSeq } = await search({ ...query, beforeSeq, limit: PAGE });
    if (entries.length > 0) yield entries;
    if (nextBeforeSeq === null) return;
    beforeSeq = nextBeforeSeq;
  }
}
