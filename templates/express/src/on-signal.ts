import type { HandoffCallback, Signal } from "signalbox";
import { handleSignal } from "./handle-signal.js";

/**
 * The receiver calls it for each signal. When it resolves the signal is done; when it rejects, the signal comes again,
 * 20 times, for days. It may come twice after a crash.
 */
export function createOnSignal(alertsUrl: string | undefined): HandoffCallback<Signal> {
  return (signal, handoff) =>
    handleSignal(signal, handoff, {
      url: alertsUrl,
      log: (alert) => handoff.logger.info({ alert }, "alert"),
    });
}
