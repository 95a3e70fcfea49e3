import express, { type Express } from "express";
import type { Receiver } from "signalbox";
import { expressHandler } from "signalbox/express";

/** Creates the routes. The receiver is a parameter, so that tests can use another receiver. */
export function createApp(receiver: Receiver): Express {
  const app = express();
  app.disable("x-powered-by");

  // In front of all body parsers, because the signature covers the exact bytes that were sent.
  app.use("/webhooks/{{sender}}", expressHandler(receiver));

  // Whether the process runs. It ignores the inbox, because a restart would not repair a full disk.
  app.get("/healthz", (_request, response) => {
    response.json({ ok: true });
  });
  // Whether deliveries are accepted: the receiver has started, is not closing, and its last commit
  // succeeded.
  app.get("/readyz", (_request, response) => {
    const { ok, state } = receiver.health();
    response.status(ok ? 200 : 503).json({ ok, state });
  });

  app.use(express.json());
  // Add your routes here.

  return app;
}
