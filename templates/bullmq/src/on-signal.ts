import type { HandoffCallback, Signal } from "signalbox";
import { jobIdOf, type SignalQueue } from "./signal-queue.js";

/**
 * The receiver calls the returned function with each signal. The signal is done when Redis has stored its job. BullMQ ignores
 * a job whose id exists, so a repeated signal has no effect.
 */
export function createOnSignal(queue: SignalQueue): HandoffCallback<Signal> {
  return async (signal, { deliveryKey }) => {
    await queue.add(signal.data.signal_type, { deliveryKey, signal }, { jobId: jobIdOf(deliveryKey) });
  };
}
