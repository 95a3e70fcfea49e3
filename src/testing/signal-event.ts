import { randomInt } from "node:crypto";
import type { SignalEvent } from "../events/envelope.js";
import { shiftTimes } from "../events/shift-times.js";
import { isKnownSignalType, type KnownSignalType, type SignalType } from "../events/signal-types.js";
import { mergeOverrides, type DeepPartial } from "./merge-overrides.js";
import { readFixture } from "./read-fixture.js";

/** Any part of a signal; what is left out is filled in. */
export type SignalEventOverrides = DeepPartial<SignalEvent>;

const DEFAULT_TYPE: KnownSignalType = "traffic_breakout";

/** Counts up from a number that no other test process begins with: they may share a database. */
let lastSignalId = randomInt(2 ** 40);

/**
 * A sound signal as the service would send it now, with an id of its own: the package's fixture of its type.
 * Overrides are merged in, however deep; the id follows `signal_id` and `product.id` unless it is given. A type that
 * this release does not know gets the data of a `traffic_breakout`.
 *
 * @param type one of `SIGNAL_TYPES`, or any other. @default `data.signal_type` of the overrides, else `traffic_breakout`
 * @example
 * signalEvent("price_increased", { data: { product: { slug: "acme" } } });
 * signalEvent({ data: { title: "Acme is gone" } });
 */
export function signalEvent(type: SignalType, overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(
  first: SignalType | SignalEventOverrides = {},
  second: SignalEventOverrides = {},
): SignalEvent {
  const overrides = typeof first === "string" ? second : first;
  const type = typeof first === "string" ? first : (first.data?.signal_type ?? DEFAULT_TYPE);
  const fixture = readFixture<SignalEvent>(`signals/${isKnownSignalType(type) ? type : DEFAULT_TYPE}`);
  const now = Date.now();
  const data = shiftTimes(fixture.data, now - Date.parse(fixture.created_at));
  lastSignalId += 1;
  const base: SignalEvent = {
    ...fixture,
    created_at: new Date(now).toISOString(),
    data: { ...data, signal_type: type, signal_id: lastSignalId },
  };
  const event = mergeOverrides(base, overrides);
  return { ...event, id: overrides.id ?? `sig_${event.data.signal_id}_${event.data.product.id}` };
}
