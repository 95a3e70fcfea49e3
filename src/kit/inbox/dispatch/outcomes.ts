import type { AttemptEnd } from "./attempts.js";
import type { Backoff } from "./backoff.js";
import type { ClaimedEvent } from "../batch.js";
import type { Breaker } from "./breaker.js";
import type { HandoffObserver } from "./observer.js";
import { createCompletion, NOT_COMPLETED } from "./completion.js";
import { doneAfter, judgeFailure, shutDown, type Judgement, type Settle } from "./settlement.js";

export interface OutcomesConfig {
  maxAttempts: number;
  backoff: Backoff;
  /** Writes log lines and calls listeners. Must not throw. */
  observe: HandoffObserver;
}

/**
 * What follows from the end of an attempt: its settlement, the report, and what the breaker learns.
 */
export function createOutcomes(
  { maxAttempts, backoff, observe }: OutcomesConfig,
  breaker: Pick<Breaker, "succeeded" | "failed">,
  settle: Settle,
  /** The event is due again after this delay. */
  retryIn: (delayMs: number) => void,
) {
  const completion = createCompletion(settle, observe, breaker, concluded);

  function ended(event: ClaimedEvent, attempt: number, end: AttemptEnd): void {
    observe.attemptEnded(event);
    const hasReadSql = completion.hasReadSql(event);
    const resolved = end.how === "resolved";
    if (resolved && !hasReadSql) return succeeded(event, attempt);
    const error = resolved ? NOT_COMPLETED : end.error;
    const judgement =
      end.how === "shutdown"
        ? shutDown(event, end.dueForMs)
        : judgeFailure({
            event,
            attempt,
            error,
            timedOut: end.how === "timed out",
            maxAttempts,
            backoff,
            observe,
          });
    // A callback that resolved has failed only if its settlement says so.
    if (!resolved && isCounted(judgement))
      breaker.failed(event.seq, judgement.settlement.lastError);
    if (hasReadSql) completion.settle(event, attempt, judgement, error, resolved);
    else failed(event, attempt, judgement, error);
  }

  function succeeded(event: ClaimedEvent, attempt: number): void {
    breaker.succeeded();
    settle(event, doneAfter(event, attempt), (result) => {
      if (result === true) observe.handedOff(event, attempt);
    });
  }

  function failed(
    event: ClaimedEvent,
    attempt: number,
    judgement: Judgement,
    error: unknown,
  ): void {
    const { kind, settlement, deadReason } = judgement;
    const willRetry = deadReason === null;
    observe.handoffFailed(event, attempt, {
      kind,
      error,
      willRetry,
      retryInMs: willRetry ? settlement.delayMs : null,
    });
    settle(event, settlement, (result) => {
      if (result === true) concluded(event, attempt, judgement);
    });
  }

  /** The settlement of a failed attempt is durable. */
  function concluded(
    event: ClaimedEvent,
    attempt: number,
    { settlement, deadReason }: Judgement,
  ): void {
    // The delay has begun with the commit.
    if (deadReason === null) retryIn(settlement.delayMs);
    else observe.dead(event, attempt, deadReason);
  }

  return { ended, sqlRead: completion.sqlRead };
}

/** `permanent` and `later` were asked for by the callback. */
function isCounted({ kind }: Judgement): boolean {
  return kind === "rejected" || kind === "timeout";
}
