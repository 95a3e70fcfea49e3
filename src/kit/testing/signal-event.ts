import { randomInt } from "node:crypto";
import type { SignalEvent } from "../senders/signals/envelope.js";
import { shiftTimes } from "./shift-times.js";
import { SignalboxError } from "../../base/errors.js";
import {
  isKnownSignalType,
  SIGNAL_TYPES,
  type KnownSignalType,
  type SignalType,
} from "../senders/signals/signal-types.js";
import { nearMiss } from "../../base/options/near-miss.js";
import { withOverrides, type DeepPartial } from "./overrides.js";
import { readFixture } from "./read-fixture.js";

/** Any part of a signal. The other parts are filled in. */
export type SignalEventOverrides = DeepPartial<SignalEvent>;

const DEFAULT_TYPE: KnownSignalType = "traffic_breakout";

/** Starts at a random number, because test processes may share a database. */
let lastSignalId = randomInt(2 ** 40);

/**
 * Makes a valid signal with a new id and current times, from the package's fixture of its type.
 * Overrides are merged in at any depth. Unless the id is given, it is made of `signal_id` and
 * `product.id`. An unknown type gets the data of a `traffic_breakout`. If it looks like a misspelt
 * known type, it is refused, unless it is given as `data.signal_type`.
 *
 * @param type one of `SIGNAL_TYPES` or a new type. @default `data.signal_type` of the overrides,
 * else `traffic_breakout`
 * @throws SignalboxError `option_invalid`, `option_unknown`
 * @example
 * signalEvent("price_increased", { data: { product: { slug: "acme" } } });
 * signalEvent({ data: { title: "Acme is gone" } });
 */
export function signalEvent(type: SignalType, overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(overrides?: SignalEventOverrides): SignalEvent;
export function signalEvent(
  first?: SignalType | SignalEventOverrides,
  second?: SignalEventOverrides,
): SignalEvent {
  if (typeof first === "string") assertNotMisspelt(first);
  const overrides = typeof first === "string" || first === undefined ? second : first;
  const type = typeof first === "string" ? first : (overrides?.data?.signal_type ?? DEFAULT_TYPE);
  const fixture = readFixture<SignalEvent>(
    `signals/${isKnownSignalType(type) ? type : DEFAULT_TYPE}`,
  );
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

/**
 * Refuses a misspelt type, because a test with `price_increasd` would run the handler's code for
 * unknown types.
 */
function assertNotMisspelt(type: string): void {
  if (isKnownSignalType(type)) return;
  const meant = nearMiss(type, SIGNAL_TYPES);
  if (meant === undefined || Math.abs(meant.length - type.length) > 2) return;
  // The service may add `…_top_50` beside `…_top_20`.
  if (type.replaceAll(/\d+/g, "") === meant.replaceAll(/\d+/g, "")) return;
  throw new SignalboxError(
    "option_unknown",
    `There is no signal type "${type}".`,
    `Did you mean "${meant}"? If the type is new, use signalEvent({ data: { signal_type: "${type}" } }).`,
  );
}
