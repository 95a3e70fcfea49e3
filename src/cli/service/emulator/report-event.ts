import { formatCount, formatMoment } from "../../../base/text/format.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../kit/senders/signature/verify.js";
import type { EmulatorEvent } from "../../../service/emulator/instance/events.js";
import { printable, type Terminal, type Paint } from "../../console/terminal.js";

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
): (event: EmulatorEvent, end?: HandoffEnd) => void {
  const { notePaint } = terminal;
  const lineOf = createEventLine(terminal.paint);

  return (event, end) => {
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
      const line = lineOf(event, end);
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

type EventNamed<Name extends EmulatorEvent["event"]> = Extract<EmulatorEvent, { event: Name }>;
type Attempt = EventNamed<"verified" | "sent" | "retried" | "refused">;

/**
 * While the clock is advanced, only this many attempts are shown. A month of 25 products has about
 * 20, of all products hundreds.
 */
const SHOWN_IN_AN_ADVANCE = 40;

/** What became of an event in the receiver's inbox. */
export interface HandoffEnd {
  text: string;
  isBad?: true;
}

/** Returns the line for an event, without the time of day; null for an event that is not shown. */
type EventLine = (event: EmulatorEvent, end?: HandoffEnd) => string | null;

export function createEventLine(paint: Paint): EventLine {
  const names = new Map<string, string>();
  let inAdvance = 0;

  /**
   * A registration's short name: `wh_1` for the first one. When a name is used for the first time,
   * the id is behind it.
   */
  function nameOf(id: string): string {
    const known = names.get(id);
    if (known !== undefined) return known;
    const name = `wh_${names.size + 1}`;
    names.set(id, name);
    return `${name} (${id})`;
  }

  function textOf(event: EmulatorEvent, end?: HandoffEnd): string | null {
    const tone = end?.isBad ? paint.red : paint.green;
    switch (event.event) {
      case "registered":
        return `registered ${nameOf(event.registration_id)} ${event.endpoint} for ${formatCount(event.signal_types, "signal type")}`;
      case "published":
        // A signal that is sent gets a line when its delivery is answered.
        if (event.hint === undefined) return null;
        return `${paint.yellow("published")} ${event.signal_type} ${event.slug}: ${event.hint}`;
      case "verified":
        return `${paint.green("verified")} ${nameOf(event.registration_id)} ${answerOf(event)}`;
      case "sent":
      case "retried":
        return [
          `${tone(verbOf(event))} ${subjectOf(event)} → ${nameOf(event.registration_id)} ${answerOf(event)}`,
          ...(end === undefined ? [] : [end.isBad ? paint.red(end.text) : end.text]),
        ].join(" · ");
      case "refused": {
        const { next_attempt_at: next, at } = event;
        const then =
          next === null
            ? "not sent again"
            : `again ${formatMoment(Date.parse(next), Date.parse(at))}`;
        return `${paint.red("refused")} ${subjectOf(event)} → ${nameOf(event.registration_id)} ${answerOf(event)}, ${then}`;
      }
      case "registration_paused":
      case "registration_time_refused":
      case "clock_moved":
      case "failed":
        break;
    }
    return null;
  }

  return (event, end) => {
    if (event.event === "clock_moved") {
      const hidden = Math.max(0, inAdvance - SHOWN_IN_AN_ADVANCE);
      inAdvance = 0;
      return textOfMove(event) + (hidden > 0 ? ` (${hidden} more lines are not shown)` : "");
    }
    if (event.during_advance && "attempt" in event && ++inAdvance > SHOWN_IN_AN_ADVANCE)
      return null;
    return textOf(event, end);
  };
}

function verbOf({ event, event_type, redelivery_of }: EventNamed<"sent" | "retried">): string {
  if (event === "retried") return "retried";
  if (redelivery_of !== null) return "redelivered";
  return event_type === "signal.published" ? "published" : "sent";
}

const subjectOf = ({ signal_type, slug, event_type }: Attempt): string =>
  signal_type === undefined ? event_type : `${signal_type} ${slug}`;

/**
 * What the receiver answered: `200 in 3 ms`, `401 signature_mismatch in 2 ms`, `connection
 * refused`.
 */
function answerOf({
  event,
  event_type,
  result,
  answer_code,
  duplicate,
  duration_ms,
}: Attempt): string {
  if (typeof result === "string") return result.replaceAll("_", " ");
  const words = [String(result)];
  if (answer_code !== undefined) words.push(answer_code);
  if (duplicate) words.push("duplicate");
  if (
    event === "refused" &&
    event_type === "webhook.verification" &&
    result >= 200 &&
    result <= 299
  ) {
    words.push("without the challenge");
  }
  return `${words.join(" ")} in ${duration_ms} ms`;
}

/** `advanced to 2026-12-02 08:00 UTC: 143 signals published, …` */
export function textOfMove({ now, ...sums }: Omit<EventNamed<"clock_moved">, "event">): string {
  const { created, delivered, failed, expired, waiting } = sums.deliveries;
  const isPartSent = created < sums.signals_published;
  const numbers = [
    `${sums.signals_published} signals published${isPartSent ? " (those about followed products are sent)" : ""}`,
    `${delivered} delivered`,
    `${failed} failed`,
    `${waiting} waiting`,
  ];
  if (expired > 0) numbers.push(`${expired} expired`);
  if (sums.registrations_paused.length > 0)
    numbers.push(`paused ${sums.registrations_paused.join(" ")}`);
  return `advanced to ${now.slice(0, 16).replace("T", " ")} UTC: ${numbers.join(", ")}`;
}
