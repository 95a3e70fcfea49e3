import type { Batch, ClaimedEvent, CrashedEvent } from "../inbox/batch.js";
import type { HandoffFailure } from "../inbox/dispatch/outcomes.js";
import type { DeliveryRequest } from "./delivery.js";
import type { ReceiverHealth } from "./health.js";
import type { RejectionCode } from "./rejection.js";

/** How a delivery ended: what it was answered, or `client_gone` when it could not be answered. */
export type DeliveryOutcome = AcceptanceOutcome | "verified" | "client_gone" | RejectionCode;

/** What became of a delivery that is stored. */
export type AcceptanceOutcome = "accepted" | "duplicate" | "conflict" | "quarantined";

/**
 * How an attempt to hand off ended. `lease_lost`: its result was not written, because another
 * process had taken over, the store refused it, or the store was down until the close.
 */
export type HandoffOutcome = "done" | HandoffFailure["kind"] | "lease_lost";

/** Traces and measures receivers. `openTelemetry()` of `signalbox/opentelemetry` makes one. */
export interface Telemetry {
  /**
   * Called by `createReceiver`. The receiver's health can be read from its return until `close`.
   *
   * @returns null when the receiver cannot be observed
   */
  observe(receiver: ObservedReceiver): TelemetryHooks | null;
}

/** What a {@link Telemetry} knows of its receiver. */
export interface ObservedReceiver {
  endpoint: string;
  /** The name of the option `sender`; null without it. */
  sender: string | null;
  /** With `false` spans have the names of errors alone. */
  logErrors: boolean;
  /** As `receiver.health()`. */
  health(): ReceiverHealth;
  /** Takes what the SDK throws. */
  onError(error: unknown): void;
}

/** What a receiver tells its {@link Telemetry}. No hook throws. */
export interface TelemetryHooks {
  /** The receiver is closed. */
  close(): void;
  /** A delivery begins. @returns null when it cannot be observed */
  receive(headers: DeliveryRequest["headers"]): ObservedDelivery | null;
  /**
   * A commit begins. @returns a function that is called at its end, with its error or null, and how
   * many events were superseded
   */
  commit(batch: Batch): ((error: unknown, superseded: number) => void) | undefined;
  /**
   * An attempt begins. @returns what `call` returns, which runs the user's callback and is called
   * once
   */
  handOff(event: ClaimedEvent, attempt: number, call: () => unknown): unknown;
  /** The callback has settled, or is no longer waited for. */
  attemptEnded(event: ClaimedEvent): void;
  /**
   * The outcome of an attempt is known; `done` is durable. A second call for the same attempt has
   * no meaning.
   *
   * @param error of an attempt that failed
   */
  handOffEnded(event: ClaimedEvent, outcome: HandoffOutcome, error?: unknown): void;
  /** An event is durably `dead`. */
  dead(event: CrashedEvent, attempts: number, reason: string): void;
}

/** A delivery that a {@link TelemetryHooks} observes. */
export interface ObservedDelivery {
  /**
   * The context of its trace, as a W3C `traceparent`, which is kept with the event; null when it
   * has none.
   */
  traceParent: string | null;
  /** Only the first call counts. @param eventId for a delivery that was accepted, now or before */
  end(outcome: DeliveryOutcome, eventId?: string): void;
}
