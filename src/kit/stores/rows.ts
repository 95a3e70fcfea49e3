import { safely } from "../../base/errors.js";
import { ANYTHING, DEFAULT_SENDER, type ReceivedDelivery } from "../inbox/stored-events.js";

/** The columns of an entry, in the SQL of every store. */
export const ENTRY = `seq, endpoint, event_id AS "eventId", type, state, due_at AS "dueAt", attempts, crashes,
  possibly_repeated AS "possiblyRepeated", replayed, received_at AS "receivedAt", last_error AS "lastError",
  subtype, subject, coalesce(sender, '${DEFAULT_SENDER}') AS sender`;

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
