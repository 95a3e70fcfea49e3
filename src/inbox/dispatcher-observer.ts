import type { Judgement } from "./judge-failure.js";
import type { ClaimedEvent, CrashedEvent } from "./store.js";

/** What the dispatcher tells of its work. */
export interface DispatcherObserver {
  /** The callback resolved, and that is durable. */
  handedOff(event: ClaimedEvent, attempt: number): void;
  handoffFailed(event: ClaimedEvent, attempt: number, failure: HandoffFailure): void;
  /** The event was given up, and that is durable. */
  dead(event: CrashedEvent, attempt: number, reason: string): void;
  /** The settlement came too late: another process had taken the lease over. */
  leaseLost(event: ClaimedEvent): void;
  /** `open`: hand-offs are held back from now on. `closed`: they go on. */
  breaker(state: "closed" | "open"): void;
}

export interface HandoffFailure {
  kind: Judgement["kind"] | "shutdown";
  error: unknown;
  /** Milliseconds since 1970 of the next attempt; null when there is none. */
  nextAttemptAt: number | null;
}
