import { existsSync } from "node:fs";
import { pino, type Logger } from "pino";

/**
 * Runs until SIGTERM or SIGINT, then closes and ends with 0. If it cannot start, it ends with 1, and says why in the log and,
 * in one line, on stderr.
 *
 * @param readConfig throws when the environment is wrong
 * @param start starts the work, and resolves to what stops it
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
    return giveUp(error, logger);
  }
  logger = pino({ level: config.LOG_LEVEL });
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    // `on`, not `once`: npm passes a Ctrl-C on, so that it comes twice.
    for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, resolve);
  });
  try {
    const close = await start(config, logger);
    logger.info(`${await stop}: closing`);
    await close();
    process.exit(0);
  } catch (error) {
    giveUp(error, logger);
  }
}

function giveUp(error: unknown, logger: Logger): never {
  logger.fatal({ err: error }, "cannot go on");
  process.stderr.write(`cannot go on: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
