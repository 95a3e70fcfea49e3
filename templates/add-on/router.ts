import { Router } from "express";
import { createReceiver, type ReceiverOptions } from "signalbox";
import { expressHandler } from "signalbox/express";
import { sqliteStore } from "signalbox/stores/sqlite";
import { onSignal } from "./on-signal.js";

/**
 * A receiver of signals, and the router that leads to it. Mount the router
 * before any body parser: the signature covers the bytes as they were sent.
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
    /** Takes no more deliveries, waits for onSignal, and closes the inbox. */
    close: () => receiver.close(),
  };
}

/** Read at each delivery, so a secret can change while the app runs. */
function signingSecret() {
  const { SIGNALS_SECRET = "" } = process.env;
  if (SIGNALS_SECRET.trim() !== "") return SIGNALS_SECRET;
  throw new Error("SIGNALS_SECRET is not set: it is your webhook's secret.");
}

// A file on a disk that stays when the app is deployed anew.
const { SIGNALS_DB = "signals.db" } = process.env;

/** Those of this app. Nothing is opened before `signals.start()`. */
export const signals = createSignals({
  secrets: signingSecret,
  store: sqliteStore(SIGNALS_DB),
  onSignal,
});
