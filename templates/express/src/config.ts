import { z } from "zod";
import { address, readEnvironment, secret, wholeNumber } from "./read-environment.js";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** All variables of the receiver, with their defaults. */
const SHAPE = {
  SIGNALS_SECRET: secret(),
  SIGNALS_SECRET_NEXT: secret().optional(),
  PORT: wholeNumber(0, 65_535).default(3000),
  INBOX_PATH: z.string().default("signals.db"),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 600).default(10),
  ALERTS_URL: address("https:", "http:").optional(),
};

export type Config = ReturnType<typeof readConfig>;

/** @throws Error that names every variable that is wrong */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(SHAPE, env);
}
