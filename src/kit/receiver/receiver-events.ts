import { SignalboxError } from "../../base/errors.js";
import { helpWithName } from "../../base/options/option-error.js";
import type { Alarm } from "../inbox/situation/alarm.js";
import type { RejectionCode } from "./rejection.js";

/** Names the delivered event that an event of `receiver.on` is about. */
export interface EventReference {
  /** The envelope's id; for unusable bytes, `sha256:<hex of the body>`. */
  eventId: string;
  /** The envelope's type; empty for unusable bytes. */
  type: string;
  /** `<endpoint>/<event id>` */
  deliveryKey: string;
}

export function referenceTo(
  endpoint: string,
  { eventId, type }: { eventId: string; type: string },
): EventReference {
  return { eventId, type, deliveryKey: deliveryKeyOf(endpoint, eventId) };
}

export function deliveryKeyOf(endpoint: string, eventId: string): string {
  return `${endpoint}/${eventId}`;
}

/** The events of `receiver.on`, and the argument of their listeners. */
export interface ReceiverEventMap {
  /** A new event that can be used is durable and about to be acknowledged. */
  accepted: EventReference;
  /** A known event was delivered again. */
  duplicate: EventReference;
  /**
   * A known id was delivered with other content. With `unsignedId` it is stored and handed off too,
   * under the `eventId` given here: the known id, `~` and a hash. Of the service the first body is
   * kept.
   */
  conflict: EventReference;
  /** An authentic event was stored in quarantine: it cannot be used, or its type is not known. */
  quarantined: EventReference & { reason: string };
  /** A delivery was refused. `requestId` is the `request_id` of the answer. */
  rejected: { code: RejectionCode; status: number; requestId: string };
  /** The challenge of a `webhook.verification` was answered. */
  verified: EventReference;
  /** The callback resolved, and the event is durably `done`. */
  handedOff: EventReference & { attempt: number };
  /**
   * The callback failed. With `willRetry: false` the event is dead. After `handoff.completeSql` a
   * transaction of the callback may have completed the event all the same: then `willRetry` is
   * false too, and `handedOff` follows. While that transaction is open, `nextAttemptAt` is null.
   */
  handoffFailed: EventReference & {
    attempt: number;
    error: unknown;
    willRetry: boolean;
    nextAttemptAt: Date | null;
  };
  /** An event became dead. It is kept until a user replays or discards it. */
  dead: EventReference & { attempt: number; reason: string };
  /**
   * An alarm begins, or is over. Its listeners are waited for. If all throw or reject, they are
   * told again after 2 minutes, with the same `key`.
   */
  alarm: Alarm;
}

/** The name of an event of `receiver.on`. */
export type ReceiverEventName = keyof ReceiverEventMap;

/** A listener of `receiver.on`. Only that of `alarm` is waited for, if it returns a promise. */
export type ReceiverEventListener<Name extends ReceiverEventName> = (
  event: ReceiverEventMap[Name],
) => unknown;

export type ReceiverEvents = ReturnType<typeof createReceiverEvents>;

/**
 * Listeners run before the answer is sent. An error of a listener has no effect on the delivery or
 * on other listeners.
 *
 * @param onListenerError must not throw
 */
export function createReceiverEvents(
  onListenerError: (name: ReceiverEventName, error: unknown) => void,
) {
  const listeners: Record<ReceiverEventName, Set<(event: never) => void>> = {
    accepted: new Set(),
    duplicate: new Set(),
    conflict: new Set(),
    quarantined: new Set(),
    rejected: new Set(),
    verified: new Set(),
    handedOff: new Set(),
    handoffFailed: new Set(),
    dead: new Set(),
    alarm: new Set(),
  };
  return {
    on<Name extends ReceiverEventName>(
      name: Name,
      listener: ReceiverEventListener<Name>,
    ): () => void {
      if (!Object.hasOwn(listeners, name)) {
        const given: unknown = name;
        const help = helpWithName(String(given), Object.keys(listeners));
        throw new SignalboxError(
          "option_unknown",
          `receiver.on has no event "${String(given)}".`,
          help,
        );
      }
      if (typeof listener !== "function") {
        throw new SignalboxError(
          "option_invalid",
          `receiver.on("${name}") was given no function.`,
          "Pass a listener.",
        );
      }
      listeners[name].add(listener);
      return () => listeners[name].delete(listener);
    },
    has: (name: ReceiverEventName): boolean => listeners[name].size > 0,
    /** Waits for the first listener of alarms that takes it. @returns false when all fail */
    async tell(alarm: Alarm): Promise<boolean> {
      const calls = Array.from(listeners.alarm, async (listener) => listener(alarm as never));
      for (const call of calls) call.catch((error: unknown) => onListenerError("alarm", error));
      return Promise.any(calls).then(
        () => true,
        () => false,
      );
    },
    emit<Name extends ReceiverEventName>(name: Name, event: ReceiverEventMap[Name]): void {
      if (listeners[name].size === 0) return;
      // The loop runs over a copy; otherwise a listener that removes and adds itself would be
      // called without end.
      for (const listener of Array.from(listeners[name])) {
        try {
          const outcome: unknown = listener(event as never);
          if (outcome instanceof Promise)
            outcome.catch((error: unknown) => onListenerError(name, error));
        } catch (error) {
          onListenerError(name, error);
        }
      }
    },
  };
}
