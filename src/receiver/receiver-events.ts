import { SignalboxError } from "../errors.js";
import { unknownName } from "../options/option-error.js";
import type { RejectionCode } from "./rejection.js";

/** Names the delivered event that an event of `receiver.on` is about. */
export interface EventReference {
  /** The envelope's id; for bytes without a usable id, `sha256:<hex of the body>`. */
  eventId: string;
  /** The envelope's type; empty for bytes without a type. */
  type: string;
  /** `<endpoint>/<event id>` */
  deliveryKey: string;
}

export function referenceTo(endpoint: string, { eventId, type }: { eventId: string; type: string }): EventReference {
  return { eventId, type, deliveryKey: deliveryKeyOf(endpoint, eventId) };
}

export function deliveryKeyOf(endpoint: string, eventId: string): string {
  return `${endpoint}/${eventId}`;
}

/** The events of `receiver.on`, and the argument of their listeners. */
export interface ReceiverEventMap {
  /** A new event is durable and about to be acknowledged. */
  accepted: EventReference;
  /** A known event was delivered again, with the same body. */
  duplicate: EventReference;
  /** A known id was delivered with another body. The first body is kept. */
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
   * The callback failed. With `willRetry: false` the event is dead; or, after `handoff.completeSql`, a transaction of the callback
   * has completed it, and `handedOff` follows. While such a transaction is open, `nextAttemptAt` is null: if it commits, `handedOff`
   * follows, otherwise the event is handed off again.
   */
  handoffFailed: EventReference & { attempt: number; error: unknown; willRetry: boolean; nextAttemptAt: Date | null };
  /** An event became dead. It is kept until a user replays or discards it. */
  dead: EventReference & { attempt: number; reason: string };
}

/** The name of an event of `receiver.on`. */
export type ReceiverEventName = keyof ReceiverEventMap;

const EVENT_NAMES = Object.keys({
  accepted: true,
  duplicate: true,
  conflict: true,
  quarantined: true,
  rejected: true,
  verified: true,
  handedOff: true,
  handoffFailed: true,
  dead: true,
} satisfies Record<ReceiverEventName, true>);

/** A listener of `receiver.on`. */
export type ReceiverEventListener<Name extends ReceiverEventName> = (event: ReceiverEventMap[Name]) => void;

export interface ReceiverEvents {
  on<Name extends ReceiverEventName>(name: Name, listener: ReceiverEventListener<Name>): () => void;
  emit<Name extends ReceiverEventName>(name: Name, event: ReceiverEventMap[Name]): void;
  /** How often this event was emitted. */
  count(name: ReceiverEventName): number;
}

/**
 * Listeners run before the answer is sent. An error of a listener has no effect on the delivery or on other listeners.
 *
 * @param onListenerError must not throw
 */
export function createReceiverEvents(
  onListenerError: (name: ReceiverEventName, error: unknown) => void,
): ReceiverEvents {
  const counts = new Map<string, number>();
  const listeners = new Map<string, Set<(event: never) => void>>();
  return {
    on(name, listener) {
      if (!EVENT_NAMES.includes(name)) throw unknownName("receiver.on", "event", name, EVENT_NAMES);
      if (typeof listener !== "function") {
        throw new SignalboxError("option_invalid", `receiver.on("${name}") was given no function.`, "Pass a listener.");
      }
      const group = listeners.get(name) ?? new Set();
      listeners.set(name, group.add(listener));
      return () => group.delete(listener);
    },
    count: (name) => counts.get(name) ?? 0,
    emit(name, event) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const group = listeners.get(name);
      if (group === undefined) return;
      // The loop runs over a copy; otherwise a listener that removes and adds itself would be called without end.
      for (const listener of Array.from(group)) {
        try {
          const outcome: unknown = listener(event as never);
          if (outcome instanceof Promise) outcome.catch((error: unknown) => onListenerError(name, error));
        } catch (error) {
          onListenerError(name, error);
        }
      }
    },
  };
}
