import type { ClaimedEvent, CrashedEvent } from "../batch.js";
import type { Judgement } from "./settlement.js";

/** Is told how hand-offs end. Writes log lines and calls listeners, and must not throw. */
export interface HandoffObserver {
  /** The callback has settled, or is no longer waited for. */
  attemptEnded(event: ClaimedEvent): void;
  /** The event is durably `done`. */
  handedOff(event: ClaimedEvent, attempt: number): void;
  handoffFailed(event: ClaimedEvent, attempt: number, failure: HandoffFailure): void;
  /**
   * The user's function for the delay threw, or returned no number. The delay is a minute instead.
   */
  backoffFailed(error: unknown): void;
  /** The event is durably `dead`. */
  dead(event: CrashedEvent, attempt: number, reason: string): void;
  /**
   * The settlement was too late, because another process had reclaimed the lease while the callback
   * ran.
   */
  leaseLost(event: ClaimedEvent): void;
  /**
   * The settlement was not written: the store refused it, or was down until the close. The event
   * stays leased.
   */
  notSettled(event: ClaimedEvent): void;
  /** `open`: hand-offs pause. `closed`: hand-offs continue. */
  breaker(state: "closed" | "open"): void;
  /**
   * `unsure`: other processes may have reclaimed our leases, so hand-offs pause. `sure`: hand-offs
   * continue.
   */
  leases(state: "sure" | "unsure"): void;
}

export interface HandoffFailure {
  kind: Judgement["kind"];
  error: unknown;
  /**
   * Whether another attempt follows. With `completeSql` and an open transaction: whether one
   * follows if it rolls back.
   */
  willRetry: boolean;
  /**
   * In how many milliseconds the next attempt is due; null when there is none, or when it is not
   * known.
   */
  retryInMs: number | null;
}
