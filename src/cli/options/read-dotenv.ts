import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { environmentError } from "./exit.js";

/**
 * The variables of an `.env` file, below those that are set already: as `process.loadEnvFile` has it, and without a trace in
 * the process's own.
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
