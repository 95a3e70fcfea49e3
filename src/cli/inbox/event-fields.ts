import { formatAge, formatCount, formatMoment } from "../../base/text/format.js";
import { parseJson } from "../../base/text/parse-json.js";
import { visibleLines } from "../../base/text/visible-text.js";
import { hasSignature } from "../../kit/inbox/exported-event.js";
import { joinRefusals, readNews } from "../../kit/inbox/situation/receiver-report.js";
import { whyNotHandedOff } from "../../kit/inbox/done-reasons.js";
import type { RefusedDelivery, Refusals } from "../../kit/inbox/situation/trouble.js";
import {
  DEFAULT_SENDER,
  NEVER,
  type EventState,
  type InboxEntry,
  type StoredEvent,
} from "../../kit/inbox/stored-events.js";
import { inboxSteps } from "../../page/timeline/inbox-steps.js";
import {
  type Paint,
  type Terminal,
  printable,
  shortened,
  cutToFit,
  formatTable,
} from "../console/terminal.js";
import type { CommandInbox } from "./open-inbox.js";
import { shortId } from "./select-events.js";

type Colour = (text: string) => string;

/** A remark that would be cut to fewer characters is left out. */
const CRAMPED = /^.{0,22}…$/;
/** On a terminal with fewer columns ids are shortened. */
const NARROW = 100;
/** State, age and id are not cut further. */
const WHOLE_CELLS = 3;

/** The table of `ls`, one line for each event. */
export function listLines(
  entries: readonly InboxEntry[],
  titles: readonly (string | null)[],
  { endpoints, now }: Pick<CommandInbox, "endpoints" | "now">,
  { paint, columns }: Pick<Terminal, "paint" | "columns">,
): string[] {
  const isJoined = endpoints.length > 1;
  const rows = [
    ["STATE", "   AGE", "ID", ...(isJoined ? ["ENDPOINT"] : []), "TYPE", "ABOUT"],
    ...entries.map((entry, index) => [
      entry.state,
      formatAge(now - entry.receivedAt).padStart(6),
      shortId(entry.eventId, columns < NARROW),
      ...(isJoined ? [entry.endpoint] : []),
      shownTypeOf(entry, isJoined),
      [titles[index], entry.subject].filter((text) => text != null).join(" · "),
      remarkOn(entry, now),
    ]),
  ];
  let cells = cutToFit(rows, WHOLE_CELLS, columns);
  const last = cells[0]?.length ?? 0;
  if (cells.some((row) => CRAMPED.test(row[last] ?? "")))
    cells = cutToFit(
      rows.map((row) => row.slice(0, last)),
      WHOLE_CELLS,
      columns,
    );
  return formatTable(
    cells.map((row, index) => {
      const { state } = entries[index - 1] ?? {};
      if (state === undefined) return row.map(paint.dim);
      const [shown = "", ...others] = row.slice(0, last);
      return [colourOf(state, paint)(shown), ...others, ...row.slice(last).map(paint.dim)];
    }),
  );
}

const MEANING_OF_DUE: Readonly<Record<EventState, string>> = {
  ready: "due",
  leased: "lease until",
  done: "since",
  dead: "since",
  quarantined: "since",
};

/** The output of `show` without the payload. */
export function showLines(event: StoredEvent, now: number, paint: Paint): string[] {
  const { state, type, attempts, crashes, lastError, rawBody, received } = event;
  const { heldCount, earlierCount } = event;
  const whyNot = whyNotHandedOff(event);
  const isDefault = event.sender === DEFAULT_SENDER;
  const marks = [
    received.backfilled === true ? "backfilled" : "",
    event.replayed ? "replayed" : "",
    event.possiblyRepeated ? "possibly repeated" : "",
  ];
  const rows: [name: string, text: string, paint?: Colour][] = [
    ["id", printable(event.eventId), paint.bold],
    ["state", state, colourOf(state, paint)],
    ["type", type === "" ? "none" : printable(type)],
    [isDefault ? "signal type" : "subtype", printable(event.subtype ?? "")],
    [isDefault ? "product" : "subject", printable(event.subject ?? "")],
    ["sender", isDefault ? "" : printable(event.sender)],
    ["endpoint", printable(event.endpoint)],
    event.dueAt === NEVER
      ? ["waits behind", printable(event.waitsBehind ?? "")]
      : [MEANING_OF_DUE[state], moment(event.dueAt, now)],
    ["attempts", crashes > 0 ? `${attempts}, and ${crashes} crashes` : String(attempts)],
    ["received", moment(event.receivedAt, now)],
    ["trace parent", printable(received.traceParent ?? "")],
    ["marks", marks.filter((mark) => mark !== "").join(", ")],
    [
      state === "quarantined" ? "reason" : "last error",
      visibleLines(whyNot === null ? (lastError ?? "") : ""),
      colourOf(state, paint),
    ],
    ["result", printable(whyNot ?? "")],
    ["behind it", heldCount > 0 ? formatCount(heldCount, "event") : ""],
    ["stands for", earlierCount > 0 ? formatCount(earlierCount, "earlier event") : ""],
    ["history", historyOf(event, now)],
    ["body", rawBody === null ? "deleted" : `${rawBody.byteLength} bytes`],
    ["SHA-256", Buffer.from(event.bodyHash).toString("hex")],
  ];
  const headers = Object.entries(received.headers).map(
    ([name, value]) =>
      [
        printable(name),
        hasSignature(name, received.signatureHeader) ? "not shown" : printable(value),
      ] as const,
  );
  const cells = [...rows.filter(([, text]) => text !== ""), ...headers].flatMap(
    ([name, text, colour]) =>
      text
        .split("\n")
        .map((line, index) => [paint.dim(index === 0 ? name : ""), colour?.(line) ?? line]),
  );
  return formatTable(cells);
}

/** As the page tells it: of several failures in a row with one error, it is told once. */
function historyOf(event: StoredEvent, now: number): string {
  const steps = inboxSteps({ ...event, bytes: 0 }, now).slice(1, -1);
  return steps
    .map(({ at, text, detail = "" }) => {
      const [error = ""] = detail.split("\n", 1);
      return `${moment(at, now)} ${text}${error === "" ? "" : `: ${shortened(error, 60)}`}`;
    })
    .join("\n");
}

/** The payload, indented if it is JSON. */
export function payloadText({ rawBody }: StoredEvent): string {
  if (rawBody === null) return "The payload was deleted, by `discard`, `erase` or retention.";
  const json = parseJson(rawBody);
  if (!json.ok && json.reason === "not_utf8") {
    return `Not UTF-8 (--raw prints the bytes): ${Buffer.from(rawBody).toString("hex")}`;
  }
  const text = printable(Buffer.from(rawBody).toString("utf8"));
  if (!json.ok && json.reason === "not_json") return `Not JSON: ${text}`;
  try {
    // Escapes control characters of the sender, but not the line ends that were added here.
    if (json.ok) return visibleLines(JSON.stringify(json.value, null, 2));
  } catch (error) {
    // JSON.parse accepts any depth, but JSON.stringify fails above about 5,000 levels. The text is
    // then not indented.
    if (!(error instanceof RangeError)) throw error;
  }
  return `Nested too deep to indent: ${text}`;
}

/**
 * Red for dead events, because the user has to act. Yellow for quarantined events, because the user
 * can act.
 */
export function colourOf(state: EventState, paint: Paint): Colour {
  if (state === "dead") return paint.red;
  return state === "quarantined" ? paint.yellow : (text) => text;
}

function moment(at: number, now: number): string {
  return `${new Date(at).toISOString()} (${formatMoment(at, now)})`;
}

/** The signal's type, or sender, type and subtype of another event. */
function shownTypeOf(
  { type, subtype, sender, endpoint }: InboxEntry,
  hasEndpoint: boolean,
): string {
  if (sender === DEFAULT_SENDER) return type === "signal.published" ? (subtype ?? "") : type;
  const known = hasEndpoint && sender === endpoint ? "" : sender;
  return [known, type, subtype ?? ""].filter((part) => part !== "").join(" ");
}

/** What is unusual: several attempts, a later hand-off, an error. */
function remarkOn(entry: InboxEntry, now: number): string {
  const { state, attempts, dueAt, lastError } = entry;
  const text = dueAt === NEVER ? "waits its turn" : `due ${formatMoment(dueAt, now)}`;
  const due = state === "ready" && dueAt > now ? [text] : [];
  const [firstLine = ""] = lastError?.split("\n", 1) ?? [];
  const error = state === "done" || firstLine === "" ? [] : [shortened(firstLine, 60)];
  const whyNot = printable(whyNotHandedOff(entry) ?? "");
  const tries = attempts > 1 ? [`${attempts} tries`] : [];
  return [...tries, ...due, ...error, whyNot].filter((part) => part !== "").join(", ");
}

const SHOWN_REFUSALS = 3;

/** The deliveries that were refused in the last 24 hours, and the newest of them. */
export function refusalLines({ byCode, examples }: Refusals, now: number): string[] {
  if (byCode.length === 0) return [];
  const counts = byCode
    .map(({ code, count }) => `${formatCount(count)} ${printable(code)}`)
    .join(", ");
  return [
    `Refused in the last 24 hours: ${counts}. docs/errors.md of the package, Answer codes, says what each needs.`,
    ...examples.slice(0, SHOWN_REFUSALS).map((example) => `  ${exampleText(example, now)}`),
  ];
}

/**
 * Notes why an event may not have arrived: refused deliveries that claim to be it, or else all of
 * them.
 */
export async function noteRefusals(
  { store, endpoints, now }: CommandInbox,
  eventId: string,
  terminal: Pick<Terminal, "note">,
): Promise<void> {
  const all: Refusals[] = [];
  for (const endpoint of endpoints) all.push((await readNews(store, endpoint, now)).refusals);
  for (const line of refusalsOf(eventId, joinRefusals(all), now)) terminal.note(line);
}

function refusalsOf(eventId: string, refusals: Refusals, now: number): string[] {
  const own = refusals.examples.filter((example) => example.eventId === eventId);
  if (own.length === 0) return refusalLines(refusals, now);
  return own.map(
    (example) =>
      `the receiver refused a delivery that names this event ${exampleText(example, now)}`,
  );
}

function exampleText({ at, code, address, eventId }: RefusedDelivery, now: number): string {
  const from = address === null ? "" : ` from ${printable(address)}`;
  const id = eventId === null ? "" : `, event ${printable(eventId)}`;
  return `${formatMoment(at, now)}: ${printable(code)}${from}${id}`;
}
