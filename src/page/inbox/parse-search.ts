import { nearMiss } from "../../base/options/option-error.js";
import { EVENT_STATES, type EventState, type SearchQuery } from "../../kit/inbox/stored-events.js";
import { refuseInput } from "./refusal.js";

/** What a search finds, without the page of its result. */
export type Wanted = Omit<SearchQuery, "beforeSeq" | "limit"> & {
  endpoint?: string;
  /** An event must have each in its title, type, subject, id or error. */
  words?: string[];
};

const LONGEST = 1000;

const TERMS = new Map<string, (value: string, now: number) => Wanted>([
  ["type", typeTerm],
  ["subtype", (value) => ({ subtype: value })],
  ["state", (value) => ({ state: stateOf(value) })],
  ["product", (value) => ({ subject: value })],
  ["subject", (value) => ({ subject: value })],
  ["endpoint", (value) => ({ endpoint: value })],
  ["tenant", (value) => ({ eventId: `${value}/` })],
  ["id", (value) => ({ eventId: value })],
  ["error", (value) => ({ error: value })],
  ["before", (value, now) => ({ receivedBefore: momentOf("before", value, now) })],
  ["after", (value, now) => ({ receivedAfter: momentOf("after", value, now) })],
]);

const NAMES = [...TERMS.keys()];

/** With quotes around a value that has blanks, such as `error:"connect ECONNREFUSED"`. */
const WORD = /(?:"[^"]*"|\S)+/g;

/**
 * Reads a search such as `state:dead type:price_drop error:"timed out" before:2h discount`.
 *
 * @throws Refusal 400 `search_invalid`, which names the wrong term but not its value
 */
export function parseSearch(text: string, now: number): Wanted {
  if (text.length > LONGEST) refuse(`The search is longer than ${LONGEST} characters.`);
  if (text.includes("\0")) refuse("The search has a NUL character, which no event has.");
  const wanted: Wanted = {};
  for (const [word] of text.matchAll(WORD)) {
    const [name, value] = termOf(word.replaceAll('"', ""));
    if (name === "") {
      if (value !== "") (wanted.words ??= []).push(value);
      continue;
    }
    if (value === "") refuse(`"${name}:" has no value after it.`);
    const read = TERMS.get(name)?.(value, now) ?? {};
    // A term that is given twice would find nothing, and the user would not see why.
    if (Object.keys(read).some((key) => key in wanted)) refuse(`"${name}:" is there twice.`);
    Object.assign(wanted, read);
  }
  return wanted;
}

function termOf(word: string): [name: string, value: string] {
  const [, name, value] = /^([a-z]+):(.*)$/is.exec(word) ?? [];
  // The id of an event without a usable id of its own is its hash.
  if (name === undefined || value === undefined || name === "sha256") return ["", word];
  const known = name.toLowerCase();
  if (TERMS.has(known)) return [known, value];
  const meant = nearMiss(known, NAMES);
  const help =
    meant === undefined
      ? `Known are ${NAMES.map((each) => `${each}:`).join(", ")}.`
      : `Did you mean "${meant}:"?`;
  return refuse(
    `The search has a term that is not known. ${help} For an id with a colon write id: before it.`,
  );
}

/** A type has a dot: signals have types such as `signal.published`. */
export function typeTerm(value: string): Wanted {
  return value.includes(".") ? { type: value } : { typeOrSubtype: value };
}

function stateOf(value: string): EventState {
  const state = EVENT_STATES.find((each) => each === value.toLowerCase());
  return state ?? refuse(`"state:" needs one of ${EVENT_STATES.join(", ")}.`);
}

function momentOf(name: string, value: string, now: number): number {
  return parseMoment(value, now) ?? refuse(`"${name}:" needs ${MOMENT_FORMS}.`);
}

function refuse(message: string): never {
  return refuseInput(message, "search_invalid");
}

const SPAN_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

const SPAN = /^(\d{1,6})([smhdw])$/;

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** What {@link parseMoment} reads. */
export const MOMENT_FORMS =
  "a day (2026-11-01), a time (2026-11-01T09:00Z), or how long ago (30m, 2h, 7d)";

/**
 * A moment, or how long ago. A time without an offset is UTC, as a day is. @returns milliseconds
 * since 1970; null for another text
 */
export function parseMoment(value: string, now: number): number | null {
  const [, count, unit] = SPAN.exec(value.toLowerCase()) ?? [];
  if (count !== undefined) return now - Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS];
  const [, day, time, offset] = MOMENT.exec(value) ?? [];
  const isLocal = time !== undefined && offset === undefined;
  const at = isDay(day) ? Date.parse(isLocal ? `${value}Z` : value) : NaN;
  return Number.isNaN(at) ? null : at;
}

/** `Date.parse` takes February 31 for March 3. */
function isDay(text = ""): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
