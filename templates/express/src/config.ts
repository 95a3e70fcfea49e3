import { z } from "zod";
import { STORE_VARIABLES } from "./store.js";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** All variables of the receiver, with their defaults. */
const VARIABLES = z.object({
  PORT: wholeNumber(0, 65_535).default(3000),
  // if signals
  SECRET_FILE: z.string().default("signals.secret"),
  // end signals
  // if sender
  __secret__: z.string("must be the signing secret"),
  __variable__: z.string("must be {{is}}"),
  // end sender
  ...STORE_VARIABLES,
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 600).default(10),
});

export type Config = z.infer<typeof VARIABLES>;

/**
 * Reads the environment. An empty variable counts as not set.
 *
 * @throws Error that names every wrong variable and what it must be
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const result = VARIABLES.safeParse(set);
  if (result.success) return result.data;
  const mistakes = result.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  throw new Error(`The environment has mistakes (see .env.example): ${mistakes.join("; ")}`);
}

function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}
