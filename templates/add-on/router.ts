import { Router } from "express";
// if signals
import { createReceiver, secretFile, type ReceiverOptions } from "signalbox";
// end signals
// if sender
import { createReceiver, secretFile } from "signalbox";
import type { SenderReceiverOptions } from "signalbox";
// end sender
import { expressHandler } from "signalbox/express";
// if sender
import { __factory__ } from "signalbox/senders";
// end sender
// if namedType
import type { __eventType__ } from "signalbox/senders";
// end namedType
import { __handler__ } from "./{{handlerFile}}.js";
import { store } from "./store.js";

// if sender
type Events = Record<string, __eventType__>;
type Options = Omit<SenderReceiverOptions<Events>, "sender" | "endpoint">;

const { __variable__ = "{{local}}" } = process.env;

// end sender
/**
 * Creates a receiver of {{events}} and its router. Mount the router in front of
 * all body parsers, because the signature covers the exact bytes.
 */
export function __create__(options: __Options__) {
  // if signals
  const receiver = createReceiver(options);
  // end signals
  // if sender
  const receiver = createReceiver({
    sender: __factory__(__variableOptions__),
    endpoint: "{{sender}}",
    ...options,
  });
  // end sender

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
    /** Refuses new deliveries, waits for {{handler}}, and closes the inbox. */
    close: () => receiver.close(),
  };
}

// if signals
// One secret on each line. `signalbox register` adds them, without a restart.
// end signals
// if sender
// One secret on each line: of a new one the receiver hears without a restart.
// end sender
// The file must survive a new deployment of the app.
const { __PREFIX___SECRET_FILE = "{{sender}}.secret" } = process.env;

/** The receiver of this app. The inbox is opened by `{{receiver}}.start()`. */
export const __receiver__ = __create__({
  secrets: secretFile(__PREFIX___SECRET_FILE),
  store,
  __handler__,
});
