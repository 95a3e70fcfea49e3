import { describeError, errorName } from "../errors.js";
import type { HandoffFailure } from "../inbox/attempts.js";
import type { Batch, ClaimedEvent, CrashedEvent } from "../inbox/store.js";
import type { DeliveryRequest } from "./delivery.js";
import type { ReceiverHealth } from "./health.js";
import type { RejectionCode } from "./rejection.js";

/** How a delivery ended: what it was answered, or `client_gone` when it could not be answered. */
export type DeliveryOutcome =
  "accepted" | "duplicate" | "conflict" | "quarantined" | "verified" | "client_gone" | RejectionCode;

/**
 * How an attempt to hand off ended. `lease_lost`: its result was not written, because another process had taken over, the
 * store refused it, or the store was down until the close.
 */
export type HandoffOutcome = "done" | "rejected" | "timeout" | "permanent" | "later" | "shutdown" | "lease_lost";

/** Traces and measures receivers. `openTelemetry()` of `signalbox/opentelemetry` makes one. */
export interface Telemetry {
  /** Called by `createReceiver`. The receiver's health can be read from its return until `close`. */
  observe(receiver: ObservedReceiver): TelemetryHooks;
}

/** What a {@link Telemetry} knows of its receiver. */
export interface ObservedReceiver {
  endpoint: string;
  /** As `receiver.health()`. */
  health(): ReceiverHealth;
}

/** What a receiver tells its {@link Telemetry}. What a hook throws is logged, at most once a second, and has no other effect. */
export interface TelemetryHooks {
  /** The receiver is closed. */
  close(): void;
  /** A delivery begins. */
  receive(headers: DeliveryRequest["headers"]): ObservedDelivery;
  /** A commit begins. @returns a function that is called at its end, with its error or null */
  commit(batch: Batch): (error: unknown) => void;
  /** An attempt begins. @param call runs the user's callback: call it once, before you return. Its promise may reject. */
  handOff(event: ClaimedEvent, attempt: number, call: () => Promise<unknown>): void;
  /**
   * The end of an attempt is known; for `done` it is durable. A second call for the same attempt has no meaning.
   *
   * @param failure null when nothing failed; its `description` is null with `logErrors: false`
   */
  handOffEnded(
    event: ClaimedEvent,
    attempt: number,
    outcome: HandoffOutcome,
    failure: { name: string; description: string | null } | null,
  ): void;
  /** An event is durably `dead`. */
  dead(event: CrashedEvent, attempts: number, reason: string): void;
}

/** A delivery that a {@link TelemetryHooks} observes. */
export interface ObservedDelivery {
  /** The context of its trace, as a W3C `traceparent`, which is kept with the event; null when it has none. A longer text is not kept. */
  traceParent: string | null;
  /** Only the first call counts. @param eventId for a delivery that was accepted, now or before */
  end(outcome: DeliveryOutcome, eventId?: string): void;
}

/** The hooks of a receiver, which never throw. */
export interface SafeTelemetry extends Omit<TelemetryHooks, "receive" | "commit" | "handOff" | "handOffEnded"> {
  receive(headers: DeliveryRequest["headers"]): ObservedDelivery | null;
  commit(batch: Batch): ((error: unknown) => void) | undefined;
  /** @returns what `call` returns, which is called once whatever the hook does */
  handOff(event: ClaimedEvent, attempt: number, call: () => unknown): unknown;
  handedOff(event: ClaimedEvent, attempt: number): void;
  handoffFailed(event: ClaimedEvent, attempt: number, kind: HandoffFailure["kind"], error: unknown): void;
  leaseLost(event: ClaimedEvent): void;
}

/** The length of a W3C `traceparent` of version 00. */
const TRACE_PARENT_LENGTH = 55;

/**
 * @param onError called with what the telemetry throws
 * @returns null when the telemetry cannot observe the receiver
 */
export function observeSafely(
  telemetry: Telemetry,
  receiver: ObservedReceiver,
  describesErrors: boolean,
  onError: (error: unknown) => void,
): SafeTelemetry | null {
  const hooks = run(() => telemetry.observe(receiver));
  if (hooks === undefined) return null;

  /** A hook may be `async`, as its result is `void`. Its rejection would end the process. */
  function run<Result>(hook: () => Result, onRejection = onError): Result | undefined {
    try {
      const result = hook();
      if (result instanceof Promise) result.catch(onRejection);
      return result;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  return {
    close: () => run(() => hooks.close()),
    receive(headers) {
      const delivery = run(() => hooks.receive(headers));
      if (delivery === undefined) return null;
      const traceParent: unknown = run(() => delivery.traceParent);
      const isKept = typeof traceParent === "string" && traceParent.length <= TRACE_PARENT_LENGTH;
      return {
        traceParent: isKept ? traceParent : null,
        end: (outcome, eventId) => run(() => delivery.end(outcome, eventId)),
      };
    },
    commit(batch) {
      const ended = run(() => hooks.commit(batch));
      return ended && ((error) => run(() => ended(error)));
    },
    handOff(event, attempt, call) {
      let outcome: Promise<unknown> | null = null;
      const callOnce = (): Promise<unknown> => (outcome ??= promiseOf(call));
      // The hook may return the promise of the callback, whose failure is no failure of the hook.
      run(() => hooks.handOff(event, attempt, callOnce), ignore);
      return callOnce();
    },
    handedOff: (event, attempt) => run(() => hooks.handOffEnded(event, attempt, "done", null)),
    handoffFailed(event, attempt, kind, error) {
      const failure = { name: errorName(error), description: describesErrors ? describeError(error) : null };
      run(() => hooks.handOffEnded(event, attempt, kind, failure));
    },
    leaseLost: (event) => run(() => hooks.handOffEnded(event, event.attempts + 1, "lease_lost", null)),
    dead: (event, attempts, reason) => run(() => hooks.dead(event, attempts, reason)),
  };
}

/** A thenable becomes a promise here, because some begin their work again each time when they are awaited. */
function promiseOf(call: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(call());
  } catch (error) {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever the user's callback threw
    return Promise.reject(error);
  }
}

function ignore(): void {}
