import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { environmentError } from "./exit.js";

/**
 * The variables of an `.env` file, and those of the environment, which win. As `process.loadEnvFile`, but `process.env` is
 * not changed.
 *
 * @throws CliError when it cannot be read
 */
export function readDotenv(file: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  try {
    return { ...parseEnv(readFileSync(file, "utf8")), ...env };
  } catch (error) {
    throw environmentError(`cannot read the file ${file} (${(error as NodeJS.ErrnoException).code ?? "error"})`);
  }
}
