import { Router } from "express";
import { createReceiver, type ReceiverOptions } from "signalbox";
import { expressHandler } from "signalbox/express";
import { sqliteStore } from "signalbox/stores/sqlite";
import { onSignal } from "./on-signal.js";

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
    /** Rejects when there is no secret, or when the inbox cannot be opened. */
    async start() {
      if (typeof options.secrets === "function") await options.secrets();
      await receiver.start();
    },
    /** Refuses new deliveries, waits for onSignal, and closes the inbox. */
    close: () => receiver.close(),
  };
}

/** Read at each delivery, so the secret can change while the app runs. */
function signingSecret() {
  const { SIGNALS_SECRET = "" } = process.env;
  if (SIGNALS_SECRET.trim() !== "") return SIGNALS_SECRET;
  throw new Error("Set SIGNALS_SECRET to the secret of your webhook.");
}

// This file must be on a disk that survives a new deployment of the app.
const { SIGNALS_DB = "signals.db" } = process.env;

/** The receiver of this app. The file is opened by `signals.start()`. */
export const signals = createSignals({
  secrets: signingSecret,
  store: sqliteStore(SIGNALS_DB),
  onSignal,
});
