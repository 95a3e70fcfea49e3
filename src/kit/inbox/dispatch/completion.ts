import type { ClaimedEvent, SettleResult } from "../batch.js";
import type { Breaker } from "./breaker.js";
import type { HandoffObserver } from "./observer.js";
import type { Judgement, Settle } from "./settlement.js";

/**
 * The error of a callback that read `completeSql` and resolved without completing. Shared and
 * stackless: most are discarded when the transaction turns out to have committed.
 */
export const NOT_COMPLETED = new Error(
  "The callback read handoff.completeSql and resolved, but no transaction has completed the event. " +
    "Await the transaction and let its errors through; or do not read completeSql.",
);
NOT_COMPLETED.stack = `Error: ${NOT_COMPLETED.message}`;

/**
 * Attempts whose callback has read `completeSql`. A transaction of the callback may have made the
 * event `done`, may still be open, or may have rolled back: only the settlement shows which. So
 * each is settled as a failure, and its result tells the truth.
 *
 * @param concluded the settlement as a failure was applied
 */
export function createCompletion(
  settle: Settle,
  observe: HandoffObserver,
  breaker: Pick<Breaker, "succeeded" | "failed">,
  concluded: (event: ClaimedEvent, attempt: number, judgement: Judgement) => void,
) {
  const withSql = new WeakSet<ClaimedEvent>();

  return {
    /** The callback of a running attempt has read `completeSql`. */
    sqlRead(event: ClaimedEvent): void {
      withSql.add(event);
    },
    hasReadSql: (event: ClaimedEvent): boolean => withSql.has(event),
    /**
     * @param resolved the callback resolved, so it has failed only if no transaction has completed
     * the event
     */
    settle(
      event: ClaimedEvent,
      attempt: number,
      judgement: Judgement,
      error: unknown,
      resolved: boolean,
    ): void {
      const { kind, settlement, deadReason } = judgement;
      settlement.mayBeCompleted = true;
      // A callback that failed is reported with the first result; one that resolved, only when it
      // is certain that it failed.
      let isReported = false;
      const report = (result: SettleResult | null): void => {
        if (isReported) return;
        isReported = true;
        const willRetry = deadReason === null && result !== "completed";
        const retryInMs = willRetry && result === true ? settlement.delayMs : null;
        observe.handoffFailed(event, attempt, { kind, error, willRetry, retryInMs });
      };
      settle(event, settlement, (result) => {
        if (!resolved || result === true) report(result);
        if (result === "completed") {
          if (resolved) breaker.succeeded();
          observe.handedOff(event, attempt);
        }
        if (result !== true) return;
        if (resolved) breaker.failed(event.seq, settlement.lastError);
        concluded(event, attempt, judgement);
      });
    },
  };
}
