import { safely } from "../../base/errors.js";
import type { ReceivedDelivery } from "../inbox/stored-events.js";

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
