import { randomUUID } from "node:crypto";
import { ignore } from "../../base/errors.js";
import type { Clock, ClockTimer } from "../../base/time/clock.js";
import {
  countsSince,
  joinRefusals,
  MOST_EXAMPLES,
  PAUSE_SAVED_EVERY_MS,
  REFUSED_SPAN_MS,
  type ReceiverReport,
} from "../inbox/situation/receiver-report.js";
import { ERASED } from "../inbox/done-reasons.js";
import { type Pause, type RefusedDelivery, REPORT_KEPT_MS } from "../inbox/situation/trouble.js";

/**
 * However much happens, the report is saved once in this time, and has at most so many new
 * examples.
 */
const SAVED_EVERY_MS = 5000;

export interface ReporterConfig {
  clock: Clock;
  /** Saves the report of this reporter, as the store does it. */
  save: (reporter: string, report: string, isKnown: boolean) => Promise<boolean>;
  pause: () => Pause | null;
  shared: boolean;
}

/**
 * Keeps in the store what a person in another process asks of a receiver: why its hand-offs are
 * paused, and what it refused in the last 24 hours. A flood of refused deliveries costs one write
 * in 5 seconds.
 */
export function createReporter({ clock, save, pause, shared }: ReporterConfig) {
  const reporter = randomUUID();
  /** By the span in which it was refused, and its code. */
  const refused: ReceiverReport["refused"] = {};
  let examples: RefusedDelivery[] = [];
  let newExamples = 0;
  let isKnown = false;
  /** The error of a pause that an erasure has deleted. */
  let hiddenError: string | undefined;
  let timer: ClockTimer | null = null;
  let savedAt = -Infinity;
  let hasChanged = false;
  let isClosed = false;

  function saveIn(delayMs: number): void {
    timer ??= clock.setTimeout(saveNow, delayMs);
  }

  function changed(): void {
    if (isClosed) return;
    if (!hasChanged) {
      // It may be the longer one of a pause.
      timer?.cancel();
      timer = null;
    }
    hasChanged = true;
    saveIn(Math.max(0, savedAt + SAVED_EVERY_MS - clock.elapsed()));
  }

  function saveNow(): void {
    timer = null;
    hasChanged = false;
    newExamples = 0;
    savedAt = clock.elapsed();
    const oldest = clock.now() - REPORT_KEPT_MS - REFUSED_SPAN_MS;
    for (const span of Object.keys(refused)) if (Number(span) < oldest) delete refused[span];
    const current = isClosed ? null : pause();
    const paused =
      current !== null && current.error === hiddenError ? { ...current, error: ERASED } : current;
    const report: ReceiverReport = {
      pause: paused ?? (shared ? undefined : null),
      refused,
      examples,
    };
    // Deliveries and hand-offs do not depend on it, and the receiver tells by itself that the store
    // fails.
    save(reporter, JSON.stringify(report), isKnown).then((isSaved) => {
      if (!isSaved) forget(current?.error);
      isKnown = isSaved;
    }, ignore);
    if (paused !== null) saveIn(PAUSE_SAVED_EVERY_MS);
  }

  /** An erasure has deleted the report: what it said of single deliveries must not come back. */
  function forget(error: string | undefined): void {
    examples = [];
    hiddenError = error;
    isKnown = false;
    changed();
  }

  return {
    /** What this receiver has refused in the last 24 hours, by code. */
    refusals: () =>
      joinRefusals([{ byCode: countsSince(refused, clock.now() - REPORT_KEPT_MS), examples: [] }])
        .byCode,
    /** To be called when hand-offs pause or continue. */
    changed,
    /** @param example is called only if it is kept; it must not throw */
    refused(code: string, example: () => Pick<RefusedDelivery, "address" | "eventId">): void {
      const at = clock.now();
      const span = at - (at % REFUSED_SPAN_MS);
      const byCode = (refused[span] ??= {});
      byCode[code] = (byCode[code] ?? 0) + 1;
      if (newExamples < MOST_EXAMPLES) {
        newExamples += 1;
        examples = [{ at, code, ...example() }, ...examples].slice(0, MOST_EXAMPLES);
      }
      changed();
    },
    /** Saves what has changed, and says that hand-offs are not paused any more. */
    close(): void {
      if (isClosed) return;
      const isOpen = hasChanged || pause() !== null;
      isClosed = true;
      timer?.cancel();
      if (isOpen) saveNow();
      timer?.cancel();
    },
  };
}

export type Reporter = ReturnType<typeof createReporter>;
