import type { HandoffCallback, Signal } from "signalbox";
import { handleSignal } from "./handle-signal.js";

/**
 * The receiver calls the returned function with each signal. If it resolves, the signal is done. If it rejects, the receiver
 * calls it again, up to 20 times, later each time. After a crash a signal can come twice.
 */
export function createOnSignal(alertsUrl: string | undefined): HandoffCallback<Signal> {
  return (signal, handoff) =>
    handleSignal(signal, handoff, {
      url: alertsUrl,
      log: (alert) => handoff.logger.info({ alert }, "alert"),
    });
}
