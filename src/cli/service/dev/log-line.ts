import { printable, shortened } from "../../console/printable.js";

/** The levels of pino. */
const LEVELS = new Map([
  [10, "trace"],
  [20, "debug"],
  [30, "info"],
  [40, "warn"],
  [50, "error"],
  [60, "fatal"],
]);

/** Of little use beside the other lines of `dev`, or said before. */
const LEFT_OUT = new Set([
  "level",
  "time",
  "msg",
  "pid",
  "hostname",
  "name",
  "err",
  "endpoint",
  "errorName",
  "eventId",
  "kind",
]);
/** Nearly every event has it. */
const USUAL_TYPE = "signal.published";
const LONGEST_VALUE = 80;

/**
 * A line of pino as one short line: level, message, fields, and the first line of an error. Another
 * line stays as it is.
 */
export function shortLogLine(line: string): string {
  const entry = line.startsWith("{") ? parsed(line) : null;
  const level = LEVELS.get(entry?.["level"] as number);
  if (entry === null || level === undefined) return line;
  const { msg = "", err } = entry;
  const fields = Object.entries(entry)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== null && value !== USUAL_TYPE)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === "string" ? shortTime(value) : JSON.stringify(value)}`,
    );
  const { type = "", message = "" } = (err ?? {}) as { type?: string; message?: string };
  const error = err === undefined ? [] : [`${type}: ${message.split("\n", 1)[0] ?? ""}`];
  const words = [...error, ...fields].map((word) => shortened(word, LONGEST_VALUE));
  return [`${level}: ${printable(String(msg))}`, ...words].join("  ");
}

/** A date-time as the time of day, as the other lines of `dev` have it. */
function shortTime(text: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? new Date(text).toTimeString().slice(0, 8) : text;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
