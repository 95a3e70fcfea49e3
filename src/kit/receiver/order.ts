import { laneKey, type Lane } from "../inbox/lane.js";
import type { ReceivedDelivery } from "../inbox/stored-events.js";
import { settled } from "../senders/engine/define-sender.js";
import type { EventFacts, Reading } from "../senders/engine/sender.js";

/** What `order.by` is told beside the event. */
export interface OrderedFacts extends Pick<EventFacts, "type" | "subtype" | "subject"> {
  /** The headers of the delivery that the sender uses, by their names in lower case. */
  headers: Readonly<Record<string, string>>;
}

/**
 * Events with the same key are handed off one at a time, in the order in which they were accepted:
 * over retries, restarts, replays and processes.
 */
export interface OrderOptions<Event> {
  /**
   * The key of an event, such as the id of a customer. Null: it has no order. What is no text, or an
   * empty one, is no key either, and is logged, as what is thrown.
   */
  by: (event: Event, facts: OrderedFacts) => string | null;
  /**
   * What a dead event does to the later ones with its key. `block`: they wait until it is replayed
   * with success or discarded, or for `inbox.unblock(key)`. `skip`: they go on. @default "block"
   */
  whenDead?: "block" | "skip" | undefined;
}

/** `order: true`. */
export const BY_SUBJECT: OrderOptions<unknown> = { by: (_event, { subject }) => subject };

/**
 * @param onNoKey told why an event has no order although `by` did not return null. Must not throw
 * @returns what finds the lane of an event; null when it has no order
 */
export function createLaneOf(
  order: OrderOptions<never> | undefined,
  onNoKey: (problem: unknown) => void,
) {
  return (reading: Reading, { headers, tenant }: ReceivedDelivery): Lane | null => {
    if (order === undefined || reading.kind !== "event" || reading.quarantine !== null) return null;
    const { type, subtype, subject, event } = reading;
    try {
      const facts = { type, subtype, subject, headers };
      const key: unknown = settled(order.by(event as never, facts));
      if (typeof key === "string" && key !== "")
        return {
          key: laneKey(tenant === undefined ? key : `${tenant}/${key}`),
          skips: order.whenDead === "skip",
        };
      const found = key === "" ? "an empty text" : typeof key;
      if (key !== null) onNoKey(new TypeError(`order.by returned ${found}, not a key or null`));
    } catch (error) {
      onNoKey(error);
    }
    return null;
  };
}

export type LaneOf = ReturnType<typeof createLaneOf>;
