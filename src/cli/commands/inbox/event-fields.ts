import { parseJson } from "../../../events/parse-json.js";
import type { EventState, InboxEntry, StoredEvent } from "../../../inbox/store.js";
import { formatAge, formatMoment } from "../../console/age.js";
import type { Paint } from "../../console/terminal.js";
import { printable, shortened } from "../../console/printable.js";
import { formatTable, type Cell } from "../../console/table.js";
import { shortId } from "./event-ids.js";

type Colour = (text: string) => string;

/** A property of an event, as the commands print it. */
interface EventField {
  /** A column of `ls`. */
  column?: { heading: string; text: (entry: InboxEntry, now: number) => string };
  /** A line of `show`. `null` leaves the line out. */
  line?: { name: string | ((event: StoredEvent) => string); text: (event: StoredEvent, now: number) => string | null };
  colour?: (entry: InboxEntry, paint: Paint) => Colour;
}

const MEANING_OF_DUE: Readonly<Record<EventState, string>> = {
  ready: "due",
  leased: "lease until",
  done: "since",
  dead: "since",
  quarantined: "since",
};

/**
 * What `ls` and `show` print of an event, in this order. `show` prints the headers below. `export` and `--json` print every
 * property that the store gives, so they need no row here.
 */
const FIELDS: readonly EventField[] = [
  { line: { name: "id", text: ({ eventId }) => printable(eventId) }, colour: (_entry, paint) => paint.bold },
  { column: { heading: "SEQ", text: ({ seq }) => String(seq) } },
  {
    column: { heading: "STATE", text: ({ state }) => state },
    line: { name: "state", text: ({ state }) => state },
    colour: ({ state }, paint) => paintState(state, paint),
  },
  {
    column: { heading: "TYPE", text: ({ type }) => shortened(type, 24) },
    line: { name: "type", text: ({ type }) => (type === "" ? "none" : printable(type)) },
  },
  { column: { heading: "ID", text: ({ eventId }) => shortId(eventId) } },
  { line: { name: "endpoint", text: ({ endpoint }) => printable(endpoint) } },
  { line: { name: ({ state }) => MEANING_OF_DUE[state], text: ({ dueAt }, now) => moment(dueAt, now) } },
  {
    column: { heading: "TRIES", text: ({ attempts }) => String(attempts).padStart(5) },
    line: {
      name: "attempts",
      text: ({ attempts, crashes }) => (crashes > 0 ? `${attempts}, and ${crashes} crashes` : String(attempts)),
    },
  },
  {
    column: { heading: "RECEIVED", text: ({ receivedAt }, now) => `${formatAge(now - receivedAt)} ago`.padStart(10) },
    line: { name: "received", text: ({ receivedAt }, now) => moment(receivedAt, now) },
  },
  { line: { name: "marks", text: marksOf } },
  { column: { heading: "", text: remarkOn }, colour: (_entry, paint) => paint.dim },
  {
    line: {
      name: ({ state }) => (state === "quarantined" ? "reason" : "last error"),
      text: ({ lastError }) => (lastError === null ? null : printable(lastError)),
    },
    colour: ({ state }, paint) => paintState(state, paint),
  },
  { line: { name: "body", text: bodyOf } },
];

/** The table of `ls`. */
export function listLines(entries: readonly InboxEntry[], now: number, paint: Paint): string[] {
  const columns = FIELDS.flatMap(({ column, colour }) => (column === undefined ? [] : [{ ...column, colour }]));
  const headings = columns.map(({ heading }): Cell => ({ text: heading, paint: paint.dim }));
  const rows = entries.map((entry) =>
    columns.map(({ text, colour }): Cell => ({
      text: text(entry, now),
      ...(colour && { paint: colour(entry, paint) }),
    })),
  );
  return formatTable([headings, ...rows]).map((line) => line.trimEnd());
}

/** What `show` prints, the payload aside. */
export function showLines(event: StoredEvent, now: number, paint: Paint): string[] {
  const rows = FIELDS.flatMap(({ line, colour }): Cell[][] => {
    const text = line?.text(event, now) ?? null;
    if (line === undefined || text === null) return [];
    const name = typeof line.name === "string" ? line.name : line.name(event);
    return [
      [
        { text: name, paint: paint.dim },
        { text, ...(colour && { paint: colour(event, paint) }) },
      ],
    ];
  });
  const headers = Object.entries(event.received.headers).map(([name, value]): Cell[] => [
    { text: printable(name), paint: paint.dim },
    { text: printable(value) },
  ]);
  return formatTable([...rows, ...headers]);
}

/** An event as NDJSON: bytes as base64, hashes as hex. */
export function exportedEvent({ bodyHash, rawBody, received, ...entry }: StoredEvent) {
  const { at: _isReceivedAt, ...others } = received;
  return {
    ...entry,
    ...others,
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bodyBase64: rawBody === null ? null : Buffer.from(rawBody).toString("base64"),
  };
}

/** The payload, indented if it can be. */
export function payloadText({ rawBody }: StoredEvent): string {
  if (rawBody === null) return "The payload is gone: it was discarded, or retention dropped it.";
  const json = parseJson(rawBody);
  if (!json.ok && json.reason === "not_utf8") {
    return `No UTF-8 (--raw prints the bytes): ${Buffer.from(rawBody).toString("hex")}`;
  }
  const text = printable(Buffer.from(rawBody).toString("utf8"));
  if (!json.ok && json.reason === "not_json") return `No JSON: ${text}`;
  try {
    // Line by line: the line ends are ours, every other character is the sender's.
    if (json.ok) return JSON.stringify(json.value, null, 2).split("\n").map(printable).join("\n");
  } catch (error) {
    // JSON.parse takes any depth, JSON.stringify some 5,000 levels.
    if (!(error instanceof RangeError)) throw error;
  }
  return `Nested too deep to indent: ${text}`;
}

/** Red: a user has to act. Yellow: a user may want to. */
export function paintState(state: EventState, paint: Paint): Colour {
  if (state === "dead") return paint.red;
  return state === "quarantined" ? paint.yellow : (text) => text;
}

function moment(at: number, now: number): string {
  return `${new Date(at).toISOString()} (${formatMoment(at, now)})`;
}

function marksOf({ replayed, possiblyRepeated }: InboxEntry): string | null {
  const marks = [...(replayed ? ["replayed"] : []), ...(possiblyRepeated ? ["possibly repeated"] : [])];
  return marks.length === 0 ? null : marks.join(", ");
}

function remarkOn({ state, dueAt, lastError }: InboxEntry, now: number): string {
  const due = state === "ready" && dueAt > now ? [`due ${formatMoment(dueAt, now)}`] : [];
  const error = state === "done" || lastError === null ? [] : [shortened(lastError, 60)];
  return [...due, ...error].join(", ");
}

function bodyOf({ rawBody, bodyHash }: StoredEvent): string {
  const size = rawBody === null ? "gone" : `${rawBody.byteLength} bytes`;
  return `${size}, SHA-256 ${Buffer.from(bodyHash).toString("hex")}`;
}
