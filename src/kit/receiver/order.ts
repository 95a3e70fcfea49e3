import { ignore } from "../../base/errors.js";
import { laneKey, LONGEST_RANK, rankOf, type Lane, type QuietTime } from "../inbox/lane.js";
import type { ReceivedDelivery } from "../inbox/stored-events.js";
import { settled } from "../senders/engine/define-sender.js";
import type { EventFacts, Reading } from "../senders/engine/sender.js";
import { findCallbackIn } from "./event-handlers.js";

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
 * Events of some types that come in a burst, with one key of the option `order` and no other event
 * between them, become one hand-off of the newest. `handoff.earlier` names the others, which are
 * `done`, `superseded by` the one after them. Each is stored before its answer, as ever.
 */
export interface CoalesceOptions<Event> {
  /** Their types, written as the names of `onEvent`: `"issues.*"`, `"invoice.updated"`. */
  types: readonly string[];
  /** The newest is handed off when none has come for so many milliseconds. */
  quietMs: number;
  /** And at the latest so many milliseconds after the first has come. */
  longestMs: number;
  /**
   * Where arrival misleads: the larger result is the newer event. All results are numbers, or all
   * are texts of at most 200 characters, such as times in ISO 8601 of one zone, compared character
   * by character.
   * @default the one that arrives last is the newest
   */
  newest?: ((event: Event) => string | number) | undefined;
}

/**
 * @param onFailed told what failed with which consequence, although the event is taken. Must not
 * throw
 * @returns what finds the lane of an event; null when it has no order
 */
export function createLaneOf(
  order: OrderOptions<never> | undefined,
  coalesce: CoalesceOptions<never> | undefined,
  onFailed: (problem: unknown, consequence: string, event: EventFacts) => void,
) {
  const matches = findCallbackIn(
    Object.fromEntries(coalesce?.types.map((type) => [type, ignore]) ?? []),
  );
  const { quietMs = 0, longestMs = 0, newest } = coalesce ?? {};

  function burstOf(reading: Reading & { kind: "event" }): QuietTime | null {
    if (matches(reading) === null) return null;
    let rank: Uint8Array | null = null;
    try {
      const value: unknown = settled(newest?.(reading.event as never));
      rank = rankOf(value);
      if (newest !== undefined && rank === null)
        throw new TypeError(
          `coalesce.newest returned neither a number nor a text of at most ${LONGEST_RANK} characters`,
        );
    } catch (error) {
      onFailed(error, BY_ARRIVAL, reading);
    }
    return { quietMs, longestMs, rank };
  }

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
          burst: burstOf(reading),
        };
      const found = key === "" ? "an empty text" : typeof key;
      if (key !== null)
        onFailed(new TypeError(`order.by returned ${found}, not a key or null`), NO_ORDER, reading);
    } catch (error) {
      onFailed(error, NO_ORDER, reading);
    }
    return null;
  };
}

export type LaneOf = ReturnType<typeof createLaneOf>;

const NO_ORDER = "order.by failed: the event has no order";
const BY_ARRIVAL = "coalesce.newest failed: the event counts as the newest when it arrives";
