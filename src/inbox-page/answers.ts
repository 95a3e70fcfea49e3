import { parseJson } from "../events/parse-json.js";
import type { MoveOutcome, ReplayOutcome } from "../inbox/store.js";
import type { InboxVitals } from "../inbox/inbox-reader.js";
import type { Activity, ActivityQuery, InboxEntry, StoredEvent, StoreStats } from "../inbox/stored-events.js";
import type { SearchPage, SearchQuery } from "../inbox/stored-events.js";
import { withoutSignature } from "../inbox/exported-event.js";
import { indentJson } from "./indent-json.js";
import type { ActivityAnswer, EventAnswer, EventsAnswer, Overview } from "./inbox-api.js";
import { parseSearch } from "./parse-search.js";
import { refuseInput, refuseUnknown } from "./refusal.js";

/** What the page does with an inbox: that of a receiver, or an opened store without one. */
export interface PageInbox {
  readonly endpoint: string;
  search(query: SearchQuery): Promise<SearchPage>;
  activity(query: ActivityQuery): Promise<Activity[]>;
  get(eventId: string): Promise<StoredEvent | undefined>;
  /** `paused` and `shortage` are those of a receiver. */
  stats(): Promise<StoreStats & Partial<Pick<InboxVitals, "paused" | "shortage">>>;
  replay(eventIds: readonly string[]): Promise<ReplayOutcome[]>;
  discard(eventIds: readonly string[]): Promise<MoveOutcome[]>;
}

const RANGES: ReadonlyMap<string, { minutes: number; spans: number }> = new Map([
  ["hour", { minutes: 1, spans: 60 }],
  ["day", { minutes: 15, spans: 96 }],
  ["week", { minutes: 120, spans: 84 }],
]);
const MOST_LISTED = 200;
const HEX_BYTES = 4096;
/** Of the first line of an error in a list. */
const ERROR_LENGTH = 300;

export async function overviewOf(inbox: PageInbox, revision: number, now: number): Promise<Overview> {
  const { ready, leased, done, dead, quarantined, total, ...stats } = await inbox.stats();
  const counts = { ready, leased, done, dead, quarantined, total };
  const { oldestReadyAgeMs, paused = null, shortage = null } = stats;
  return { endpoint: inbox.endpoint, counts, oldestReadyAgeMs: oldestReadyAgeMs ?? 0, paused, shortage, revision, now };
}

export async function activityOf(inbox: PageInbox, query: URLSearchParams, now: number): Promise<ActivityAnswer> {
  const range = RANGES.get(query.get("range") ?? "hour");
  if (range === undefined) return refuseInput('"range" must be hour, day or week.');
  return { ...range, activity: await inbox.activity(range), now };
}

export async function eventsOf(inbox: PageInbox, query: URLSearchParams, now: number): Promise<EventsAnswer> {
  const wanted = parseSearch(query.get("q") ?? "", now);
  const beforeSeq = numberIn(query, "before", Number.MAX_SAFE_INTEGER);
  const limit = numberIn(query, "limit", MOST_LISTED) ?? 50;
  const { entries, nextBeforeSeq } = await inbox.search({ ...wanted, beforeSeq, limit });
  return { events: entries.map(listed), nextBeforeSeq };
}

function listed(entry: InboxEntry): InboxEntry {
  const [firstLine = ""] = entry.lastError?.split("\n", 1) ?? [];
  return { ...entry, lastError: entry.lastError === null ? null : firstLine.slice(0, ERROR_LENGTH).toWellFormed() };
}

function numberIn(query: URLSearchParams, name: string, most: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) return refuseInput(`"${name}" must be a whole number from 1 to ${most}.`);
  return number;
}

const UNKNOWN_EVENT =
  "The inbox has no event with this id. It may have been deleted long ago, or be in quarantine under a hash: search state:quarantined.";

/** @throws Refusal 404 */
export async function storedEvent(inbox: PageInbox, query: URLSearchParams): Promise<StoredEvent> {
  const eventId = query.get("id") ?? "";
  if (eventId === "") return refuseInput('"id" must be the id of an event.');
  // A database may refuse a text with NUL, and no event has such an id.
  const event = eventId.includes("\0") ? undefined : await inbox.get(eventId);
  return event ?? refuseUnknown(UNKNOWN_EVENT);
}

export function eventAnswer(event: StoredEvent, now: number): EventAnswer {
  const { received, bodyHash, rawBody, ...entry } = event;
  return {
    ...entry,
    headers: withoutSignature(received.headers, received.signatureHeader),
    backfilled: received.backfilled === true,
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bytes: rawBody?.byteLength ?? null,
    payload: rawBody === null ? null : payloadOf(rawBody),
    hex: rawBody === null ? null : Buffer.from(rawBody.subarray(0, HEX_BYTES)).toString("hex"),
    now,
  };
}

function payloadOf(body: Uint8Array): string | null {
  const json = parseJson(body);
  if (!json.ok && json.reason === "not_utf8") return null;
  const text = Buffer.from(body).toString("utf8");
  return json.ok ? indentJson(text) : text;
}
