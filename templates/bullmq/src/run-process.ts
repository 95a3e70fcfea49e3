import { existsSync } from "node:fs";
import { pino, type Logger } from "pino";
import { readConfig, type Config } from "./config.js";

/**
 * Runs until SIGTERM or SIGINT (Ctrl-C), then stops and exits with 0. After an error it exits with
 * 1.
 *
 * @param start starts the work, and resolves to a function that stops it
 */
export async function runProcess(
  start: (config: Config, logger: Logger) => Promise<() => Promise<void>>,
): Promise<never> {
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    // `on` instead of `once`, because npm forwards Ctrl-C, so SIGINT arrives twice.
    for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, resolve);
  });
  const logger = await createLogger();
  try {
    if (existsSync(".env")) process.loadEnvFile(".env");
    const config = readConfig(process.env);
    logger.level = config.LOG_LEVEL;
    const stop = await start(config, logger);
    logger.info(`${await stopped}: closing`);
    await stop();
    process.exit(0);
  } catch (error) {
    logger.fatal({ err: error }, explain(error));
    process.exit(1);
  }
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
