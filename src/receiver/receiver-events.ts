import { errorName } from "../errors.js";
import type { ReceiverLog } from "./receiver-log.js";
import type { RejectionCode } from "./rejection.js";

/** What every event about an accepted event says. */
export interface EventReference {
  /** The envelope's id; for bytes without a usable one, `sha256:<hex of the body>`. */
  eventId: string;
  /** The envelope's type; empty for bytes without one. */
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

/** The events of `receiver.on`, with what their listeners get. */
export interface ReceiverEventMap {
  /** A new event is durable and about to be acknowledged. */
  accepted: EventReference;
  /** An event that is known came again. */
  duplicate: EventReference;
  /** A known id came with another body. The first body stays. */
  conflict: EventReference;
  /** An authentic body was kept because it cannot be used, or its type is not known. */
  quarantined: EventReference & { reason: string };
  /** A delivery was refused. `requestId` is the `request_id` of the answer. */
  rejected: { code: RejectionCode; status: number; requestId: string };
  /** The challenge of a `webhook.verification` was answered. */
  verified: EventReference;
  /** The callback resolved, and that is durable. */
  handedOff: EventReference & { attempt: number };
  /** `willRetry: false`: the event is dead. */
  handoffFailed: EventReference & { attempt: number; error: unknown; willRetry: boolean; nextAttemptAt: Date | null };
  /** An event was given up, and waits for a person. */
  dead: EventReference & { attempt: number; reason: string };
}

/** What `receiver.on` can listen to. */
export type ReceiverEventName = keyof ReceiverEventMap;
/** Called with what the event of this name carries. */
export type ReceiverEventListener<Name extends ReceiverEventName> = (event: ReceiverEventMap[Name]) => void;

export interface ReceiverEvents {
  on<Name extends ReceiverEventName>(name: Name, listener: ReceiverEventListener<Name>): () => void;
  emit<Name extends ReceiverEventName>(name: Name, event: ReceiverEventMap[Name]): void;
  /** How often each was emitted. */
  count(name: ReceiverEventName): number;
}

/** Listeners run before the answer goes out; one that throws or rejects is logged and disturbs nobody. */
export function createReceiverEvents(log: ReceiverLog): ReceiverEvents {
  const counts = new Map<string, number>();
  const listeners = new Map<string, Set<(event: never) => void>>();
  return {
    on(name, listener) {
      const group = listeners.get(name) ?? new Set();
      listeners.set(name, group.add(listener));
      return () => group.delete(listener);
    },
    count: (name) => counts.get(name) ?? 0,
    emit(name, event) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const group = listeners.get(name);
      if (group === undefined) return;
      for (const listener of group) {
        // Its message may quote the payload.
        const failed = (error: unknown): void =>
          log.error({ event: name, errorName: errorName(error) }, "a listener failed");
        try {
          const outcome: unknown = listener(event as never);
          if (outcome instanceof Promise) outcome.catch(failed);
        } catch (error) {
          failed(error);
        }
      }
    },
  };
}
