// if signals
import type { Handoff, Signal } from "signalbox";
// end signals
// if sender
import type { Handoff } from "signalbox";
// end sender
// if namedType
import type { __eventType__ } from "signalbox/senders";
// end namedType

/**
 * The receiver calls this function with each {{event}}. Store the {{event}} in your
 * own queue or database here. If this throws or rejects, the receiver calls it
 * again, later each time. At last the event is dead.
 *
 * {{AnEvent}} can come twice, with the same `handoff.deliveryKey`.
 */
// if signals
export function onSignal(signal: Signal, handoff: Handoff) {
  const { product, signal_type: signalType, title } = signal.data;
  handoff.logger.info({ product: product.slug, signalType }, title);
}
// end signals
// if sender
export function onEvent(_event: __eventType__, handoff: Handoff) {
  handoff.logger.info("an event");
}
// end sender
