import { randomInt } from "node:crypto";
import type { SignalEvent } from "../events/envelope.js";
import { shiftTimes } from "./shift-times.js";
import { SignalboxError } from "../errors.js";
import { isKnownSignalType, SIGNAL_TYPES, type KnownSignalType, type SignalType } from "../events/signal-types.js";
import { nearMiss } from "../options/near-miss.js";
import { withOverrides, type DeepPartial } from "./overrides.js";
import { readFixture } from "./read-fixture.js";

/** Any part of a signal; what is left out is filled in. */
export type SignalEventOverrides = DeepPartial<SignalEvent>;

const DEFAULT_TYPE: KnownSignalType = "traffic_breakout";

/** Counts up from a random number: test processes may share a database. */
let lastSignalId = randomInt(2 ** 40);

/**
 * A sound signal as the service would send it now, with an id of its own: the package's fixture of its type.
 * Overrides are merged in, however deep; the id follows `signal_id` and `product.id` unless it is given. A type that
 * this release does not know gets the data of a `traffic_breakout`; one that looks like a slip of a known one is refused,
 * unless it is given as `data.signal_type`. So is a property that looks like a slip; any other is added.
 *
 * @param type one of `SIGNAL_TYPES`, or any other. @default `data.signal_type` of the overrides, else `traffic_breakout`
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * signalEvent("price_increased", { data: { product: { slug: "acme" } } });
 * signalEvent({ data: { title: "Acme is gone" } });
 */
export function signalEvent(type: SignalType, overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(first?: SignalType | SignalEventOverrides, second?: SignalEventOverrides): SignalEvent {
  if (typeof first === "string") assertNoSlip(first);
  const overrides = typeof first === "string" || first === undefined ? second : first;
  const type = typeof first === "string" ? first : (overrides?.data?.signal_type ?? DEFAULT_TYPE);
  const fixture = readFixture<SignalEvent>(`signals/${isKnownSignalType(type) ? type : DEFAULT_TYPE}`);
  const now = Date.now();
  const data = shiftTimes(fixture.data, now - Date.parse(fixture.created_at));
  lastSignalId += 1;
  const base: SignalEvent = {
    ...fixture,
    created_at: new Date(now).toISOString(),
    data: { ...data, signal_type: type, signal_id: lastSignalId },
  };
  const event = withOverrides("signalEvent", base, overrides);
  return { ...event, id: overrides?.id ?? `sig_${event.data.signal_id}_${event.data.product.id}` };
}

/** `price_increasd` would be a signal of an unknown type, and the test would run the handler's default branch. */
function assertNoSlip(type: string): void {
  if (isKnownSignalType(type)) return;
  const meant = nearMiss(type, SIGNAL_TYPES);
  if (meant === undefined || Math.abs(meant.length - type.length) > 2 || isNumbered(type, meant)) return;
  throw new SignalboxError(
    "option_unknown",
    `There is no signal type "${type}".`,
    `Did you mean "${meant}"? A new type of such a name: signalEvent({ data: { signal_type: "${type}" } }).`,
  );
}

/** `…_top_50` beside `…_top_20`. */
function isNumbered(type: string, known: string): boolean {
  return type.replaceAll(/\d+/g, "") === known.replaceAll(/\d+/g, "");
}
