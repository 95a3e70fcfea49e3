import type { Clock } from "../../base/time/clock.js";
import type { HandoffObserver } from "../inbox/dispatch/outcomes.js";
import { deliveryKeyOf, referenceTo, type ReceiverEvents } from "./receiver-events.js";
import type { ReceiverLog } from "./receiver-log.js";
import type { TelemetryHooks } from "./telemetry.js";

/** Tells the log, the listeners and the telemetry of a receiver how its hand-offs end. */
export function observeHandoffs({
  endpoint,
  clock,
  log,
  events,
  telemetry,
  onBreaker,
}: {
  endpoint: string;
  clock: Clock;
  log: ReceiverLog;
  events: ReceiverEvents;
  telemetry: TelemetryHooks | null;
  onBreaker: () => void;
}): HandoffObserver {
  return {
    attemptEnded: (event) => telemetry?.attemptEnded(event),
    handedOff(event, attempt) {
      const { eventId, type } = event;
      telemetry?.handOffEnded(event, "done");
      // No spread: it would cost each delivery 1 µs.
      events.emit("handedOff", {
        eventId,
        type,
        deliveryKey: deliveryKeyOf(endpoint, eventId),
        attempt,
      });
    },
    handoffFailed(event, attempt, { kind, error, willRetry, retryInMs }) {
      telemetry?.handOffEnded(event, kind, error);
      const nextAttemptAt =
        retryInMs === null ? null : new Date(clock.now() + Math.max(0, retryInMs));
      const failure = { ...referenceTo(endpoint, event), attempt, nextAttemptAt };
      log.failure(
        "warn",
        { ...failure, kind },
        error,
        "a hand-off failed; `signalbox inbox show` prints the error",
      );
      events.emit("handoffFailed", { ...failure, error, willRetry });
    },
    backoffFailed: (error) =>
      log.failure("warn", {}, error, "handoff.backoff failed; the delay is 60 seconds"),
    dead(event, attempt, reason) {
      telemetry?.dead(event, attempt, reason);
      events.emit("dead", { ...referenceTo(endpoint, event), attempt, reason });
    },
    leaseLost(event) {
      telemetry?.handOffEnded(event, "lease_lost");
      log.warn(referenceTo(endpoint, event), "a lease expired before its callback ended");
    },
    overdue(event) {
      const text =
        "a callback goes on after its time-out; the events with the key of this one wait until it returns";
      log.warn(referenceTo(endpoint, event), text);
    },
    notSettled(event) {
      telemetry?.handOffEnded(event, "lease_lost");
      const text =
        "the result of a hand-off could not be stored; the event is handed off again after the next start";
      log.error(referenceTo(endpoint, event), text);
    },
    breaker(breaker) {
      log.warn({ breaker }, BREAKER_LINES[breaker]);
      onBreaker();
    },
    leases: (leases) => log.warn({ leases }, LEASES_LINES[leases]),
  };
}

const LEASES_LINES = {
  unsure:
    "heartbeats to the inbox fail, so other processes may take over; hand-offs are paused, events are kept",
  sure: "heartbeats to the inbox work again; hand-offs continue",
};

const BREAKER_LINES = {
  open: "the callback keeps failing; hand-offs are paused, events are kept",
  closed: "the callback works again; hand-offs continue",
} as const;
