import { parseEvent } from "../../events/parse-event.js";
import type { DeliveryResult } from "./run-deliveries.js";

/** What a receiver took in, by what becomes of it. Repeats count once. */
export interface AcceptedCount {
  add(result: DeliveryResult): void;
  /** They go to `onSignal`. */
  readonly signals: number;
  /** They go to `onTest`. */
  readonly tests: number;
  /** Unusable, or of a type that no release knows yet: kept for a person. */
  readonly quarantined: number;
}

export function countAccepted(): AcceptedCount {
  const count = { signals: 0, tests: 0, quarantined: 0 };
  return {
    add({ answer, sent }) {
      if (answer.kind !== "answer") return;
      if (answer.body === '{"received":true,"quarantined":true}') count.quarantined += 1;
      if (answer.body !== '{"received":true}') return;
      const parsed = parseEvent(sent);
      if (parsed.kind === "unknown") count.quarantined += 1;
      else if (parsed.kind === "known" && parsed.event.type === "signal.published") count.signals += 1;
      else if (parsed.kind === "known" && parsed.event.type === "webhook.test") count.tests += 1;
    },
    get signals() {
      return count.signals;
    },
    get tests() {
      return count.tests;
    },
    get quarantined() {
      return count.quarantined;
    },
  };
}
