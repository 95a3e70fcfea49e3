import { existsSync } from "node:fs";
import { pino, type Logger } from "pino";

/**
 * Runs until SIGTERM or SIGINT, then closes and exits with 0. If an error occurs, it logs the error, prints it on stderr and
 * exits with 1.
 *
 * @param readConfig throws when the environment has mistakes
 * @param start starts the work, and resolves to a function that stops it
 */
export async function runProcess<Config extends { LOG_LEVEL: string }>(
  readConfig: (env: NodeJS.ProcessEnv) => Config,
  start: (config: Config, logger: Logger) => Promise<() => Promise<void>>,
): Promise<void> {
  let logger = pino();
  let config: Config;
  try {
    if (existsSync(".env")) process.loadEnvFile(".env");
    config = readConfig(process.env);
  } catch (error) {
    return fail(error, logger);
  }
  logger = pino({ level: config.LOG_LEVEL });
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    // `on` instead of `once`, because npm forwards Ctrl-C, so SIGINT arrives twice.
    for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, resolve);
  });
  try {
    const close = await start(config, logger);
    logger.info(`${await stop}: closing`);
    await close();
    process.exit(0);
  } catch (error) {
    fail(error, logger);
  }
}

function fail(error: unknown, logger: Logger): never {
  logger.fatal({ err: error }, "the process failed");
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
