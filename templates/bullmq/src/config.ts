import { z } from "zod";
import { address, readEnvironment, secret, wholeNumber } from "./read-environment.js";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** The variables that both processes read. */
const SHARED = {
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  REDIS_URL: address("redis:", "rediss:").default("redis://127.0.0.1:6379"),
};

const RECEIVER = {
  ...SHARED,
  SIGNALS_SECRET: secret(),
  SIGNALS_SECRET_NEXT: secret().optional(),
  PORT: wholeNumber(0, 65_535).default(3000),
  INBOX_PATH: z.string().default("signals.db"),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 600).default(10),
};

/** The worker does not read the signing secret. */
const WORKER = {
  ...SHARED,
  WORKER_CONCURRENCY: wholeNumber(1, 1000).default(8),
  ALERTS_URL: address("https:", "http:").optional(),
};

export type Config = ReturnType<typeof readConfig>;
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws Error that names every variable that is wrong */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(RECEIVER, env);
}

/** @throws Error that names every variable that is wrong */
export function readWorkerConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(WORKER, env);
}
