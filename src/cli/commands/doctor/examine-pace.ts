import type { Subject } from "./examination.js";
import { ok, problem, warning, type Finding } from "./finding.js";

const QUICK_MS = 1000;
/** A receiver of signalbox gives up its own answer then (`ackTimeoutMs`). */
const MOST_MS = 3000;

const MEND =
  "Answer first and work later: hand the signal to a queue in onSignal. See what keeps the event loop or the proxy busy; " +
  "the service's document does not say how long it waits.";

/** Of all the answers so far. Half of them, so that one hiccup is no finding. */
export function examinePace({ facts: { times } }: Subject): Finding[] {
  const sorted = [...times].sort((a, b) => a - b);
  const medianMs = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const found = `half of ${times.length} answers came within ${Math.round(medianMs)} ms`;
  if (medianMs > MOST_MS) return [problem("answers_slow", found, MEND)];
  if (medianMs > QUICK_MS) return [warning("answers_slow", found, MEND)];
  return [ok("answers_fast", found)];
}
