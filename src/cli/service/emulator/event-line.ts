import type { EmulatorEvent } from "../../../service/emulator/instance/events.js";
import { formatCount, formatMoment } from "../../../base/text/format.js";
import type { Paint } from "../../console/terminal.js";

export type EventNamed<Name extends EmulatorEvent["event"]> = Extract<
  EmulatorEvent,
  { event: Name }
>;
type Attempt = EventNamed<"verified" | "sent" | "retried" | "refused">;

/**
 * While the clock is advanced, only this many attempts are shown. A month of 25 products has about
 * 20, of all products hundreds.
 */
const SHOWN_IN_AN_ADVANCE = 40;

/** Returns the line for an event, without the time of day; null for an event that is not shown. */
export type EventLine = (event: EmulatorEvent) => string | null;

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

  function textOf(event: EmulatorEvent): string | null {
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
        return `${paint.green(verbOf(event))} ${subjectOf(event)} → ${nameOf(event.registration_id)} ${answerOf(event)}`;
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

  return (event) => {
    if (event.event === "clock_moved") {
      const hidden = Math.max(0, inAdvance - SHOWN_IN_AN_ADVANCE);
      inAdvance = 0;
      return textOfMove(event) + (hidden > 0 ? ` (${hidden} more lines are not shown)` : "");
    }
    if (event.during_advance && "attempt" in event && ++inAdvance > SHOWN_IN_AN_ADVANCE)
      return null;
    return textOf(event);
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
