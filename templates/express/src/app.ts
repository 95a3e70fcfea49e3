import express, { type ErrorRequestHandler, type Express } from "express";
import type { Logger } from "pino";
import type { Receiver } from "signalbox";
import { expressHandler } from "signalbox/express";

/** The routes. The receiver is a parameter, so that tests can use one of their own. */
export function createApp(receiver: Receiver, logger: Logger): Express {
  const app = express();
  app.disable("x-powered-by");

  // Before any body parser: the signature covers the bytes as they were sent.
  app.use("/webhooks/signals", expressHandler(receiver));

  // The process runs. A full disk is no reason to restart it.
  app.get("/healthz", (_request, response) => {
    response.json({ ok: true });
  });
  // Deliveries are taken: started, not closing, and the last commit worked.
  app.get("/readyz", (_request, response) => {
    const { ok, state } = receiver.health();
    response.status(ok ? 200 : 503).json({ ok, state });
  });

  app.use(express.json());
  // Routes of your own go here.

  app.use((_request, response) => {
    response.status(404).json({ error: { code: "not_found", message: "There is nothing here." } });
  });
  app.use(answerFailure(logger));
  return app;
}

/** Express takes a function of four parameters as an error handler. Its default one sends the stack. */
function answerFailure(logger: Logger): ErrorRequestHandler {
  return (error: { status?: number }, _request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status !== undefined && error.status >= 400 && error.status < 500 ? error.status : 500;
    if (status === 500) logger.error({ err: error }, "a request failed");
    const code = status === 500 ? "internal_error" : "bad_request";
    response.status(status).json({ error: { code, message: "The request could not be answered." } });
  };
}
