import { once } from "node:events";
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { pino, type Logger } from "pino";
// if signals
import { createReceiver, secretFile } from "signalbox";
// end signals
// if sender
import { createReceiver } from "signalbox";
import { __factory__ } from "signalbox/senders";
// end sender
import { createApp } from "./app.js";
import { readConfig } from "./config.js";
// if sender
import { startDev } from "./dev.js";
// end sender
import { __handler__ } from "./{{handlerFile}}.js";
import { createStore } from "./store.js";

const logger = await createLogger();
try {
  await run();
  process.exit(0);
} catch (error) {
  logger.fatal({ err: error }, explain(error));
  process.exit(1);
}

/** Runs until SIGTERM or SIGINT (Ctrl-C). */
async function run(): Promise<void> {
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    // `on` instead of `once`, because npm forwards Ctrl-C, so SIGINT arrives twice.
    for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, resolve);
  });
  if (existsSync(".env")) process.loadEnvFile(".env");
  const config = readConfig(process.env);
  logger.level = config.LOG_LEVEL;

  // if signals
  const secrets = secretFile(config.SECRET_FILE);
  const receiver = createReceiver({ secrets, store: createStore(config), onSignal, logger });
  // end signals
  // if sender
  const receiver = createReceiver({
    sender: __factory__(__options__),
    endpoint: "{{sender}}",
    secrets: config.__secret__,
    store: createStore(config),
    onEvent,
    logger,
  });
  // end sender
  receiver.on("dead", ({ deliveryKey, reason }) =>
    logger.error({ deliveryKey, reason }, "{{anEvent}} is dead"),
  );
  const server = createApp(receiver).listen(config.PORT);
  await once(server, "listening");
  await receiver.start();
  const { port } = server.address() as AddressInfo;
  logger.info(`listening on http://localhost:${port}/webhooks/{{sender}}`);
  // if sender
  if (process.argv.includes("--dev")) await startDev(receiver, port, logger);
  // end sender

  logger.info(`${await stopped}: closing`);
  // First all open requests are answered. The connections that then become idle would keep the
  // server open.
  setInterval(() => server.closeIdleConnections(), 100);
  await new Promise((resolve) => server.close(resolve));
  // Then it waits for running calls of {{handler}}. What is not done stays in the inbox.
  await receiver.close({ graceMs: config.SHUTDOWN_GRACE_SECONDS * 1000 });
}

/** Writes lines for a person on a terminal; JSON elsewhere, and in production. */
async function createLogger(): Promise<Logger> {
  const isForPerson = process.stdout.isTTY && process.env["NODE_ENV"] !== "production";
  // It is a devDependency, which production leaves out.
  const pretty = isForPerson ? await import("pino-pretty").catch(() => null) : null;
  const ignore = "pid,hostname,endpoint,eventId,attempt";
  const options = { ignore, translateTime: "SYS:HH:MM:ss", singleLine: true, sync: true };
  return pretty === null ? pino() : pino(pretty.default(options));
}

function explain(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code !== "EADDRINUSE") return message;
  return `port ${port} is in use: end the program that uses it, or set PORT to another port`;
}
