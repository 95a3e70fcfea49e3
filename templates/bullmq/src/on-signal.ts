import type { HandoffCallback, Signal } from "signalbox";
import { jobIdOf, type SignalQueue } from "./signal-queue.js";

/**
 * What the receiver calls for each signal: it is done when Redis has it. A job with an id that is there already is not added
 * again, so a repeat changes nothing.
 */
export function createOnSignal(queue: SignalQueue): HandoffCallback<Signal> {
  return async (signal, { deliveryKey }) => {
    await queue.add(signal.data.signal_type, { deliveryKey, signal }, { jobId: jobIdOf(deliveryKey) });
  };
}
