import type { Handoff, Signal } from "signalbox";

/**
 * The receiver calls this function with each signal. Store the signal in your
 * own queue or database here. If this throws or rejects, the receiver calls it
 * again, later each time. At last the event is dead.
 *
 * A signal can come twice, with the same `handoff.deliveryKey`.
 */
export function onSignal(signal: Signal, handoff: Handoff) {
  const { product, signal_type: signalType, title } = signal.data;
  handoff.logger.info({ product: product.slug, signalType }, title);
}
