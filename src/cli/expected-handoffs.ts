import { parseEvent } from "../events/parse-event.js";
import type { DeliveryResult } from "./run-deliveries.js";

/** Counts the events that a callback must get: the signals and tests that were accepted as new. */
export function countExpectedHandoffs(): { add(result: DeliveryResult): void; readonly total: number } {
  let total = 0;
  return {
    add({ answer, sent }) {
      if (answer.kind !== "answer" || answer.body !== '{"received":true}') return;
      const parsed = parseEvent(sent);
      if (parsed.kind === "known" && parsed.event.type !== "webhook.verification") total += 1;
    },
    get total() {
      return total;
    },
  };
}
