import { Router } from "express";
import { createReceiver, secretFile, type ReceiverOptions } from "signalbox";
import { expressHandler } from "signalbox/express";
import { onSignal } from "./on-signal.js";
import { store } from "./store.js";

/**
 * Creates a receiver of signals and its router. Mount the router in front of
 * all body parsers, because the signature covers the exact bytes.
 */
export function createSignals(options: ReceiverOptions) {
  const receiver = createReceiver(options);

  const router = Router();
  router.get("/health", (_request, response) => {
    const { ok, state } = receiver.health();
    response.status(ok ? 200 : 503).json({ ok, state });
  });
  router.use(expressHandler(receiver));

  return {
    receiver,
    router,
    /** Rejects when the inbox cannot be opened. */
    start: () => receiver.start(),
    /** Refuses new deliveries, waits for onSignal, and closes the inbox. */
    close: () => receiver.close(),
  };
}

// One secret on each line. `signalbox register` adds them, without a restart.
// The file must survive a new deployment of the app.
const { SIGNALS_SECRET_FILE = "signals.secret" } = process.env;

/** The receiver of this app. The inbox is opened by `signals.start()`. */
export const signals = createSignals({
  secrets: secretFile(SIGNALS_SECRET_FILE),
  store,
  onSignal,
});
