import type { EmulatorEvent } from "../../../service/emulator/instance/events.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import { printable } from "../../console/printable.js";
import type { Terminal } from "../../console/terminal.js";
import { createEventLine, type EventNamed } from "./event-line.js";

type Trouble = EventNamed<"registration_paused" | "registration_time_refused">;

export interface ReporterOptions {
  isJson: boolean;
  /** What to do about a registration that was paused, and a command for that. */
  resumeHelp: (registrationId: string) => readonly [advice: string, command?: string];
}

/**
 * Prints each event as a line with the time of day, or as NDJSON. Problems that the user has to
 * solve go to stderr in words.
 */
export function createEventReporter(
  terminal: Terminal,
  { isJson, resumeHelp }: ReporterOptions,
): (event: EmulatorEvent) => void {
  const { notePaint } = terminal;
  const lineOf = createEventLine(terminal.paint);

  return (event) => {
    if (event.event === "failed") {
      const reason = event.error instanceof Error ? event.error.message : String(event.error);
      terminal.note(`${notePaint.red("error")}: ${printable(`${event.about}: ${reason}`)}`);
    } else if (
      event.event === "registration_paused" ||
      event.event === "registration_time_refused"
    ) {
      const isPaused = event.event === "registration_paused";
      const help = isPaused
        ? resumeHelp(event.registration_id)
        : ([clockHelp(event.ahead_seconds)] as const);
      if (isJson) return terminal.printJson({ ...event, help: help.join(" ") });
      const [advice, command] = help;
      terminal.note(
        `${notePaint.yellow("warning")}: ${printable(`${textOfTrouble(event)}. ${advice}`)}`,
      );
      if (command !== undefined) terminal.note(`  $ ${command}`);
    } else if (isJson) terminal.printJson(event);
    else {
      const line = lineOf(event);
      if (line !== null) terminal.print(timed(line, terminal));
    }
  };
}

export function timed(line: string, { paint }: Terminal): string {
  return `${paint.dim(new Date().toTimeString().slice(0, 8))}  ${line}`;
}

function textOfTrouble({ event, registration_id, endpoint, failure_count, last }: Trouble): string {
  const registration = `${registration_id} (${endpoint})`;
  return event === "registration_paused"
    ? `${registration} is paused: its failure count is ${failure_count}, and its last failure was ${last}`
    : `${registration} answered ${last} to a signature whose timestamp differs from this machine's clock`;
}

export const resumePath = (registrationId: string): string =>
  `/_emulator/registrations/${registrationId}/resume`;

export function resumeCommand(url: string, registrationId: string, needsToken: boolean): string {
  const header = needsToken ? '-H "Authorization: Bearer $SIGNALS_CONTROL_TOKEN" ' : "";
  return `curl ${header}-X POST ${url}${resumePath(registrationId)}`;
}

/** The advice if the emulator signs with timestamps that a receiver on this machine refuses. */
export function clockHelp(aheadSeconds: number): string {
  const side = aheadSeconds > 0 ? "ahead of" : "behind";
  return (
    `The service's clock is ${Math.abs(aheadSeconds)} s ${side} this machine's clock. A receiver refuses signatures that differ ` +
    `by more than ${DEFAULT_TOLERANCE_SECONDS} s from its own clock, so start with --assume signatureClock=machine, or set the receiver's clock to the service's clock`
  );
}
