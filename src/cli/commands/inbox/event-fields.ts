import { SIGNATURE_HEADER } from "../../../signature/header.js";
import { parseJson } from "../../../events/parse-json.js";
import type { EventState, InboxEntry, PastStep, StoredEvent } from "../../../inbox/stored-events.js";
import { formatAge, formatMoment } from "../../../text/format.js";
import { visibleLines } from "../../../text/visible-text.js";
import type { Paint } from "../../console/terminal.js";
import { printable, shortened } from "../../console/printable.js";
import { formatTable, type Cell } from "../../console/table.js";
import { shortId } from "../../inbox/event-ids.js";

type Colour = (text: string) => string;

/** The table of `ls`. */
export function listLines(entries: readonly InboxEntry[], now: number, paint: Paint): string[] {
  const headings = ["STATE", "ID", "   AGE", ""];
  const rows = entries.map((entry): Cell[] => [
    { text: entry.state, paint: paintState(entry.state, paint) },
    { text: shortId(entry.eventId) },
    { text: formatAge(now - entry.receivedAt).padStart(6) },
    { text: remarkOn(entry, now), paint: paint.dim },
  ]);
  const lines = formatTable([headings.map((text): Cell => ({ text, paint: paint.dim })), ...rows]);
  return lines.map((line) => line.trimEnd());
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
  const { state, type, attempts, crashes, lastError, rawBody } = event;
  const marks = [event.replayed ? "replayed" : "", event.possiblyRepeated ? "possibly repeated" : ""];
  const rows: [name: string, text: string, paint?: Colour][] = [
    ["id", printable(event.eventId), paint.bold],
    ["state", state, paintState(state, paint)],
    ["type", type === "" ? "none" : printable(type)],
    ["signal type", printable(event.subtype ?? "")],
    ["product", printable(event.subject ?? "")],
    ["endpoint", printable(event.endpoint)],
    [MEANING_OF_DUE[state], moment(event.dueAt, now)],
    ["attempts", crashes > 0 ? `${attempts}, and ${crashes} crashes` : String(attempts)],
    ["received", moment(event.receivedAt, now)],
    ["trace parent", printable(event.received.traceParent ?? "")],
    ["marks", marks.filter((mark) => mark !== "").join(", ")],
    [state === "quarantined" ? "reason" : "last error", visibleLines(lastError ?? ""), paintState(state, paint)],
    ["history", event.history.map((step) => stepLine(step, now)).join("\n")],
    ["body", rawBody === null ? "deleted" : `${rawBody.byteLength} bytes`],
    ["SHA-256", Buffer.from(event.bodyHash).toString("hex")],
  ];
  const headers = Object.entries(event.received.headers).map(
    ([name, value]) =>
      [printable(name), name === SIGNATURE_HEADER.toLowerCase() ? "not shown" : printable(value)] as const,
  );
  const cells = [...rows.filter(([, text]) => text !== ""), ...headers].flatMap(([name, text, colour]) =>
    text.split("\n").map((line, index): Cell[] => [
      { text: index === 0 ? name : "", paint: paint.dim },
      { text: line, ...(colour && { paint: colour }) },
    ]),
  );
  return formatTable(cells).map((line) => line.trimEnd());
}

function stepLine({ at, kind, attempts, error }: PastStep, now: number): string {
  const [firstLine = ""] = error?.split("\n", 1) ?? [];
  const what = kind === "failed" ? `attempt ${attempts} failed: ${shortened(firstLine, 60)}` : kind;
  return `${moment(at, now)} ${what}`;
}

/** The payload, indented if it is JSON. */
export function payloadText({ rawBody }: StoredEvent): string {
  if (rawBody === null) return "The payload was deleted, by `discard` or by retention.";
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
    // JSON.parse accepts any depth, but JSON.stringify fails above about 5,000 levels. The text is then not indented.
    if (!(error instanceof RangeError)) throw error;
  }
  return `Nested too deep to indent: ${text}`;
}

/** Red for dead events, because the user has to act. Yellow for quarantined events, because the user can act. */
export function paintState(state: EventState, paint: Paint): Colour {
  if (state === "dead") return paint.red;
  return state === "quarantined" ? paint.yellow : (text) => text;
}

function moment(at: number, now: number): string {
  return `${new Date(at).toISOString()} (${formatMoment(at, now)})`;
}

/** The signal's type, or that of another event, and what is unusual: several attempts, a later hand-off, an error. */
function remarkOn({ type, subtype, state, attempts, dueAt, lastError }: InboxEntry, now: number): string {
  const shownType = shortened(type === "signal.published" ? (subtype ?? "") : type, 24);
  const due = state === "ready" && dueAt > now ? [`due ${formatMoment(dueAt, now)}`] : [];
  const [firstLine = ""] = lastError?.split("\n", 1) ?? [];
  const error = state === "done" || firstLine === "" ? [] : [shortened(firstLine, 60)];
  const tries = attempts > 1 ? [`${attempts} tries`] : [];
  return [shownType, ...tries, ...due, ...error].filter((part) => part !== "").join(", ");
}
