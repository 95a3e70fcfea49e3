import type { Logger } from "pino";
import type { ClockMove } from "../../../emulator/control/clock-control.js";
import type { EmulatorEvent } from "../../../emulator/instance/events.js";
import { printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Terminal } from "../../console/terminal.js";

type Trouble = Omit<Extract<EmulatorEvent, { event: "registration_paused" }>, "event">;

/** A line of the emulator's log. */
type Entry =
  | ({ event: "clock_moved" } & ClockMove)
  | ({ event: "registration_paused" | "registration_time_refused" } & Trouble)
  | { event?: undefined; msg: string; err?: { message?: string } };

/**
 * What happens while the emulator runs, a line each: in words, or as NDJSON. What went wrong in itself goes to stderr.
 *
 * @param url where it listens; null while it does not yet: what a file has waiting may be sent before
 */
export async function emulatorLogger(
  terminal: Terminal,
  { isJson, url }: { isJson: boolean; url: () => string | null },
): Promise<Logger> {
  const { pino } = await import("pino");
  const write = (line: string): void => tell(JSON.parse(line) as Entry);
  return pino({ base: null, timestamp: false }, { write });

  function tell(entry: Entry): void {
    if (entry.event === undefined) {
      terminal.note(`${terminal.notePaint.red("error")}: ${printable(`${entry.msg}: ${entry.err?.message ?? ""}`)}`);
    } else if (entry.event === "clock_moved") {
      if (isJson) terminal.printJson(factsOf(entry));
      else terminal.print(moveWords(entry, terminal));
    } else {
      const help = helpOf(entry, url);
      if (isJson) terminal.printJson({ ...factsOf(entry), help });
      else terminal.note(`${terminal.notePaint.yellow("warning")}: ${printable(`${troubleWords(entry)}. ${help}`)}`);
    }
  }
}

/** Without what every line of a log has. */
function factsOf(entry: object): object {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== "level" && name !== "msg"));
}

function moveWords(
  { now, signals_published: signals, deliveries, registrations_paused: paused }: ClockMove,
  terminal: Terminal,
): string {
  const { delivered, failed, expired, waiting } = deliveries;
  const numbers = [`${signals} signals published`, `${delivered} delivered`, `${failed} failed`, `${waiting} waiting`];
  if (expired > 0) numbers.push(`${expired} expired`);
  if (paused.length > 0) numbers.push(`paused ${paused.join(" ")}`);
  return `${terminal.paint.dim(now)}  ${numbers.join(", ")}`;
}

function troubleWords({ event, registration_id, endpoint, failure_count, last }: Trouble & { event: string }): string {
  const who = `${registration_id} (${endpoint})`;
  if (event === "registration_paused")
    return `${who} is paused at a failure count of ${failure_count}, the last: ${last}`;
  return `${who} answered ${last} to a signature of another time than this machine's`;
}

function helpOf(
  { event, registration_id, ahead_seconds }: Trouble & { event: string },
  url: () => string | null,
): string {
  if (event === "registration_time_refused") return clockHelp(ahead_seconds);
  const path = `/_emulator/registrations/${registration_id}/resume`;
  const base = url();
  return `Mend its receiver, then: ${base === null ? `POST ${path}` : `curl -X POST ${shellQuote(`${base}${path}`)}`}`;
}

/** What to do about signatures of another time than the machine's. */
export function clockHelp(aheadSeconds: number): string {
  const side = aheadSeconds > 0 ? "ahead of" : "behind";
  return (
    `The clock is ${Math.abs(aheadSeconds)} s ${side} this machine's, and a receiver refuses what was signed 300 s off its own: ` +
    "start with --assume signatureClock=machine, or let the receiver's clock go with this one"
  );
}
