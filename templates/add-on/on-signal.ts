import type { Handoff, Signal } from "signalbox";

/**
 * Called with each signal. Give it to your own queue or database here: once this
 * returns, or its promise resolves, the signal is yours. While it throws or
 * rejects, the signal comes again, for days.
 *
 * A signal may come twice, with the same `handoff.deliveryKey`.
 */
export function onSignal(signal: Signal, handoff: Handoff) {
  const { product, signal_type: signalType, title } = signal.data;
  handoff.logger.info({ product: product.slug, signalType }, title);
}
