import type { HandoffCallback, Signal } from "signalbox";
import { jobIdOf, type SignalQueue } from "./signal-queue.js";

/**
 * The receiver calls it for each signal, which is done when Redis has it. A job whose id exists is not added again, so a
 * repeat changes nothing.
 */
export function createOnSignal(queue: SignalQueue): HandoffCallback<Signal> {
  return async (signal, { deliveryKey }) => {
    await queue.add(signal.data.signal_type, { deliveryKey, signal }, { jobId: jobIdOf(deliveryKey) });
  };
}
