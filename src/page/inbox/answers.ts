import { safely } from "../../base/errors.js";
import { helpWithName } from "../../base/options/option-error.js";
import { parseJson, type ParsedJson } from "../../base/text/parse-json.js";
import { nextTurn } from "../../base/time/timers.js";
import { withoutSignature } from "../../kit/inbox/exported-event.js";
import { joinRefusals } from "../../kit/inbox/situation/receiver-report.js";
import {
  DEFAULT_SENDER,
  type InboxEntry,
  type SearchPage,
  type StoredEvent,
} from "../../kit/inbox/stored-events.js";
import { REJECTIONS, type Rejection } from "../../kit/receiver/rejection.js";
import { SENDERS } from "../../kit/senders/records.js";
import type { ActivityAnswer, End, EventAnswer, EventsAnswer, Overview } from "./inbox-api.js";
import type { PageInbox } from "./page-inbox.js";
import { parseSearch, type Wanted } from "./parse-search.js";
import { refuseInput, refuseUnknown } from "./refusal.js";

const RANGES: ReadonlyMap<string, { minutes: number; spans: number }> = new Map([
  ["hour", { minutes: 1, spans: 60 }],
  ["day", { minutes: 15, spans: 96 }],
  ["week", { minutes: 120, spans: 84 }],
]);
export const MOST_LISTED = 200;
/** So much is sent of a body that is too large to be parsed. */
const BEGINNING_BYTES = 16_384;
/** Of the first line of an error in a list. */
const ERROR_LENGTH = 300;

/** Of each endpoint so many errors are listed, with so many characters. */
const MOST_FAILURES = 20;

/** The list without a search. */
const FIRST_PAGE = new URLSearchParams({ titles: "yes" });

export async function overviewOf(
  inbox: PageInbox,
  revision: number,
  now: number,
  titlesOf: Titles,
): Promise<Overview> {
  const states = await inbox.states(now);
  const { byCode, examples } = joinRefusals(states.map(({ refusals }) => refusals));
  const counts = { ready: 0, leased: 0, done: 0, dead: 0, quarantined: 0, total: 0 };
  for (const { stats } of states)
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += stats[name];
  return {
    endpoints: states.map(({ endpoint, facts: { now: _now, ...facts }, stats }) => ({
      endpoint,
      facts,
      counts: stats,
    })),
    counts,
    failures: states.flatMap(({ endpoint, failures }) =>
      failures.slice(0, MOST_FAILURES).map(({ eventIds: _eventIds, ...failure }) => ({
        ...failure,
        endpoint,
        error: failure.error.slice(0, ERROR_LENGTH).toWellFormed(),
      })),
    ),
    refusals: {
      byCode: byCode.map((each) => ({ ...each, text: refusalText(each.code) })),
      examples,
    },
    newest: await eventsOf(inbox, FIRST_PAGE, now, titlesOf),
    paused: states.find(({ paused }) => paused !== null)?.paused ?? null,
    shortage: states.find(({ shortage }) => shortage !== null)?.shortage ?? null,
    revision,
    now,
  };
}

const refusalText = (code: string): string =>
  (REJECTIONS as Readonly<Record<string, Rejection | undefined>>)[code]?.message ?? "";

export async function activityOf(
  inbox: PageInbox,
  query: URLSearchParams,
  now: number,
): Promise<ActivityAnswer> {
  const range = RANGES.get(query.get("range") ?? "hour");
  if (range === undefined) return refuseInput('"range" must be hour, day or week.');
  return { ...range, activity: await inbox.activity(range, query.get("endpoint")), now };
}

/** @param titlesOf looked at when the query asks for titles */
export async function eventsOf(
  inbox: PageInbox,
  query: URLSearchParams,
  now: number,
  titlesOf: Titles,
): Promise<EventsAnswer> {
  const wanted = parseSearch(query.get("q") ?? "", now);
  const beforeSeq = numberIn(query, "before", Number.MAX_SAFE_INTEGER);
  const limit = numberIn(query, "limit", MOST_LISTED) ?? 50;
  const found = await searchEvents(inbox, wanted, titlesOf, limit, beforeSeq);
  const { entries, nextBeforeSeq } = found;
  const titles = query.get("titles") === "yes" ? await titlesOf(entries) : [];
  return {
    events: entries.map((entry, index) => ({ ...listed(entry), title: titles[index] ?? null })),
    nextBeforeSeq,
  };
}

/** A word like this is taken for the beginning of an id, if there is such an id. */
const LIKE_ID = /^(?=.*\d).{8}/s;
/** One search for words looks at so many events, since no index has their titles. */
const MOST_LOOKED_AT = 1000;

/** As `inbox.search`, also for words. @throws Refusal 400 for an endpoint that the page has not */
export async function searchEvents(
  inbox: PageInbox,
  { words, ...wanted }: Wanted,
  titlesOf: Titles,
  limit: number,
  beforeSeq?: number,
): Promise<SearchPage> {
  const { endpoint } = wanted;
  if (endpoint !== undefined && !inbox.endpoints.includes(endpoint)) {
    const help = helpWithName(endpoint, inbox.endpoints);
    return refuseInput(`The page has no endpoint of this name. ${help}`, "search_invalid");
  }
  const [first = ""] = words ?? [];
  if (words?.length === 1 && LIKE_ID.test(first) && wanted.eventId === undefined) {
    const ofId = { ...wanted, eventId: first };
    const page = await inbox.search({ ...ofId, beforeSeq, limit });
    // A later page of the ids can be empty.
    const isLater = beforeSeq !== undefined && page.entries.length === 0;
    const { entries } = isLater ? await inbox.search({ ...ofId, limit: 1 }) : page;
    if (entries.length > 0) return page;
  }
  let before = beforeSeq;
  for (let looked = limit; ; looked += limit) {
    const page = await inbox.search({ ...wanted, beforeSeq: before, limit });
    if (words === undefined) return page;
    const titles = await titlesOf(page.entries);
    page.entries = page.entries.filter(({ type, subtype, subject, eventId, lastError }, index) => {
      const text = [titles[index], type, subtype, subject, eventId, lastError].join("\n");
      return words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
    });
    const { entries, nextBeforeSeq } = page;
    if (entries.length > 0 || nextBeforeSeq === null || looked >= MOST_LOOKED_AT) return page;
    before = nextBeforeSeq;
  }
}

export async function endsOf(inbox: PageInbox, keys: readonly string[]): Promise<End[]> {
  const ends: End[] = [];
  for (const key of keys) {
    const { state = "gone", history } = (await inbox.get(key, 0)) ?? {};
    const last = history?.at(-1);
    if (state === "ready" && last?.kind === "failed") ends.push(last.at);
    else if (state === "ready" || state === "leased") ends.push(null);
    else ends.push(state === "done" || state === "gone" ? state : "failed");
    await nextTurn();
  }
  return ends;
}

function listed(entry: InboxEntry): InboxEntry {
  const [firstLine = ""] = entry.lastError?.split("\n", 1) ?? [];
  return {
    ...entry,
    lastError: entry.lastError === null ? null : firstLine.slice(0, ERROR_LENGTH).toWellFormed(),
  };
}

function numberIn(query: URLSearchParams, name: string, most: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most)
    return refuseInput(`"${name}" must be a whole number from 1 to ${most}.`);
  return number;
}

const UNKNOWN_EVENT =
  "The inbox has no event with this id. It may have been deleted long ago, or be in quarantine under a hash: search state:quarantined.";

/** @throws Refusal 404 */
export async function storedEvent(inbox: PageInbox, query: URLSearchParams): Promise<StoredEvent> {
  const eventId = query.get("id") ?? "";
  if (eventId === "") return refuseInput('"id" must be the id of an event.');
  return (await inbox.get(eventId)) ?? refuseUnknown(UNKNOWN_EVENT);
}

export function eventAnswer(event: StoredEvent, now: number): EventAnswer {
  const { received, bodyHash, rawBody, lane: _lane, ...entry } = event;
  const json = rawBody === null ? null : parseSmall(rawBody);
  const answer = {
    ...entry,
    title: titleIn(json),
    headers: withoutSignature(received.headers, received.signatureHeader),
    backfilled: received.backfilled === true,
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bytes: rawBody?.byteLength ?? null,
    payload: rawBody === null ? null : textOf(rawBody, json === null),
    isCut: rawBody !== null && json === null,
    now,
  };
  const record = SENDERS.find(({ name }) => name === event.sender);
  return { ...answer, senderUrl: record?.eventUrl(answer) ?? "" };
}

function textOf(body: Uint8Array, isCut: boolean): string | null {
  const shown = isCut ? body.subarray(0, BEGINNING_BYTES) : body;
  // With `stream` a character that the cut goes through is left out.
  const decode = (): string =>
    new TextDecoder("utf-8", { fatal: true }).decode(shown, { stream: isCut });
  return safely<string | null>(decode, null);
}

const LONGEST_TITLE = 300;
/** A larger body is not parsed, because the host application waits meanwhile. */
const MOST_PARSED_BYTES = 102_400;
const MOST_KEPT = 10_000;

export type Titles = ReturnType<typeof createTitles>;

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
    const body = (await inbox.get(key, MOST_PARSED_BYTES))?.rawBody;
    const title = body == null ? null : titleIn(parseJson(body));
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
function parseSmall(body: Uint8Array): ParsedJson | null {
  return body.byteLength > MOST_PARSED_BYTES ? null : parseJson(body);
}

/** The title in the payload of a signal; null when it has none. */
function titleIn(json: ParsedJson | null): string | null {
  const { data } = (json?.ok ? (json.value ?? {}) : {}) as { data?: { title?: unknown } | null };
  const title = data?.title;
  return typeof title === "string" && title.trim() !== ""
    ? title.slice(0, LONGEST_TITLE).toWellFormed()
    : null;
}
