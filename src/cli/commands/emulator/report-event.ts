import type { EmulatorEvent } from "../../../emulator/instance/events.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import { printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Terminal } from "../../console/terminal.js";

export interface Reporting {
  isJson: boolean;
  /**
   * The address of the control API; `null` until the emulator listens. It can be needed before that, because an emulator
   * with an existing file may send deliveries, and report their failures, earlier.
   */
  controlUrl: () => string | null;
  needsToken: boolean;
}

/** Prints problems that the user has to solve, and results of the control API: one line each, as text or NDJSON. */
export function reportEvent(event: EmulatorEvent, terminal: Terminal, reporting: Reporting): void {
  const { notePaint } = terminal;
  switch (event.event) {
    case "failed": {
      const reason = event.error instanceof Error ? event.error.message : String(event.error);
      terminal.note(`${notePaint.red("error")}: ${printable(`${event.about}: ${reason}`)}`);
      break;
    }
    case "clock_moved":
      if (reporting.isJson) terminal.printJson(event);
      else terminal.print(textOfMove(event, terminal));
      break;
    case "registration_paused":
    case "registration_time_refused": {
      const help = helpFor(event, reporting);
      if (reporting.isJson) terminal.printJson({ ...event, help });
      else terminal.note(`${notePaint.yellow("warning")}: ${printable(`${textOfTrouble(event)}. ${help}`)}`);
      break;
    }
    // Not printed: the control API lists these events.
    case "registered":
    case "verified":
    case "published":
    case "sent":
    case "retried":
    case "refused":
      break;
  }
}

type Of<Name extends EmulatorEvent["event"]> = Extract<EmulatorEvent, { event: Name }>;
type Trouble = Of<"registration_paused"> | Of<"registration_time_refused">;

function textOfMove(event: Of<"clock_moved">, { paint }: Terminal): string {
  const { now, signals_published: signals, deliveries, registrations_paused: paused } = event;
  const { delivered, failed, expired, waiting } = deliveries;
  const numbers = [`${signals} signals published`, `${delivered} delivered`, `${failed} failed`, `${waiting} waiting`];
  if (expired > 0) numbers.push(`${expired} expired`);
  if (paused.length > 0) numbers.push(`paused ${paused.join(" ")}`);
  return `${paint.dim(now)}  ${numbers.join(", ")}`;
}

function textOfTrouble({ event, registration_id, endpoint, failure_count, last }: Trouble): string {
  const registration = `${registration_id} (${endpoint})`;
  return event === "registration_paused"
    ? `${registration} is paused: its failure count is ${failure_count}, and its last failure was ${last}`
    : `${registration} answered ${last} to a signature whose timestamp differs from this machine's clock`;
}

function helpFor({ event, registration_id, ahead_seconds }: Trouble, { controlUrl, needsToken }: Reporting): string {
  if (event === "registration_time_refused") return clockHelp(ahead_seconds);
  const path = `/registrations/${registration_id}/resume`;
  const base = controlUrl();
  return `Fix the receiver, then call ${base === null ? `POST /_emulator${path}` : postCommand(`${base}${path}`, needsToken)}`;
}

/** A command that posts to the control API. */
export function postCommand(url: string, needsToken: boolean): string {
  const header = needsToken ? '-H "Authorization: Bearer $TOKEN" ' : "";
  return `curl ${header}-X POST ${shellQuote(url)}`;
}

/** The advice if the emulator signs with timestamps that a receiver on this machine refuses. */
export function clockHelp(aheadSeconds: number): string {
  const side = aheadSeconds > 0 ? "ahead of" : "behind";
  return (
    `The service's clock is ${Math.abs(aheadSeconds)} s ${side} this machine's clock. A receiver refuses signatures that differ ` +
    `by more than ${DEFAULT_TOLERANCE_SECONDS} s from its own clock, so start with --assume signatureClock=machine, or set the receiver's clock to the service's clock`
  );
}
