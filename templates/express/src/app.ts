import express, { type ErrorRequestHandler, type Express } from "express";
import type { Logger } from "pino";
import type { Receiver } from "signalbox";
import { expressHandler } from "signalbox/express";

/** Creates the routes. The receiver is a parameter, so that tests can use another receiver. */
export function createApp(receiver: Receiver, logger: Logger): Express {
  const app = express();
  app.disable("x-powered-by");

  // In front of all body parsers, because the signature covers the exact bytes that were sent.
  app.use("/webhooks/signals", expressHandler(receiver));

  // Reports that the process runs. It ignores the inbox, because a restart would not repair a full disk.
  app.get("/healthz", (_request, response) => {
    response.json({ ok: true });
  });
  // Reports whether deliveries are accepted: the receiver has started, is not closing, and its last commit succeeded.
  app.get("/readyz", (_request, response) => {
    const { ok, state } = receiver.health();
    response.status(ok ? 200 : 503).json({ ok, state });
  });

  app.use(express.json());
  // Add your routes here.

  app.use((_request, response) => {
    response.status(404).json({ error: { code: "not_found", message: "This address does not exist." } });
  });
  app.use(answerFailure(logger));
  return app;
}

/** Express recognises an error handler by its four parameters. The default handler would send the stack. */
function answerFailure(logger: Logger): ErrorRequestHandler {
  return (error: { status?: number }, _request, response, next) => {
    if (response.headersSent) return next(error);
    const status = error.status !== undefined && error.status >= 400 && error.status < 500 ? error.status : 500;
    if (status === 500) logger.error({ err: error }, "a request failed");
    const code = status === 500 ? "internal_error" : "bad_request";
    response.status(status).json({ error: { code, message: "The request could not be answered." } });
  };
}
