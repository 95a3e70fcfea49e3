import { safely } from "../../base/errors.js";
import { noActivity, type Activity } from "../inbox/activity.js";
import { ANYTHING, DEFAULT_SENDER, type ReceivedDelivery } from "../inbox/stored-events.js";

/** The columns of an entry, in the SQL of every store. */
export const ENTRY = `seq, endpoint, event_id AS "eventId", type, state, due_at AS "dueAt", attempts, crashes,
  possibly_repeated AS "possiblyRepeated", replayed, received_at AS "receivedAt", last_error AS "lastError",
  subtype, subject, coalesce(sender, '${DEFAULT_SENDER}') AS sender`;

/** The columns of the counts of a minute. */
export const MINUTE_COLUMNS = ["accepted", "handed_off", "failed", "ignored"].concat(
  noActivity().durations.map((_, index) => `took_${index}`),
);

/** Those that version 0.2.0 has not. */
export const addColumns = (type: string): string =>
  MINUTE_COLUMNS.slice(3)
    .map((name) => `ALTER TABLE inbox_minute ADD COLUMN ${name} ${type} NOT NULL DEFAULT 0;`)
    .join("\n");

/** Adds what was counted to the counts of a minute, in the SQL of every store. */
export const ADD_MINUTE = MINUTE_COLUMNS.map(
  (name) => `${name} = inbox_minute.${name} + excluded.${name}`,
).join(", ");

export const MINUTE_SUMS = MINUTE_COLUMNS.map((name) => `sum(${name})`).join(", ");

/** @param sums what {@link MINUTE_SUMS} select */
export function activityOf(at: number, sums: readonly number[]): Activity {
  const [accepted, handedOff, failed, ignored, ...durations] = sums as [
    number,
    number,
    number,
    number,
  ];
  return { at, accepted, ignored, handedOff, failed, durations };
}

/** Before what was kept; see `setAlarm` of the port. */
export const IF_KEPT =
  "ON CONFLICT (endpoint, kind) DO UPDATE SET state = excluded.state WHERE inbox_alarm.state =";

/**
 * Reads what a store keeps of a delivery as JSON.
 *
 * @param at the result's `at` if the text is missing (deleted with the payload), is damaged, or was
 * written by signalbox 0.1.0, which kept only the headers
 */
export function parseReceived(text: string | null | undefined, at: number): ReceivedDelivery {
  type Found = ReceivedDelivery | ReceivedDelivery["headers"];
  const found = safely(() => JSON.parse(text ?? "null") as Found | null, null);
  if (typeof found !== "object" || found === null) return { at, headers: {} };
  const isWhole = (value: Found): value is ReceivedDelivery => typeof value.at === "number";
  return isWhole(found) ? found : { at, headers: found };
}

/**
 * The pattern of SQL's LIKE for a part of an error, in which `…` stands for anything. Its escape
 * character is `\`.
 */
export function likePattern(error: string): string {
  return `%${error.replaceAll(/[\\%_]/g, String.raw`\$&`).replaceAll(ANYTHING, "%")}%`;
}
