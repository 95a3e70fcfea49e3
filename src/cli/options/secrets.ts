import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { secretLines } from "../../receiver/secret-file.js";
import { isUsableSecret } from "../../signature/secret.js";
import type { Cli } from "../console/cli.js";
import { environmentError, usageError } from "./exit.js";
import { collect, notBlank } from "./parse-option.js";

export interface SecretOptions {
  secret?: string[];
  secretFile?: string;
}

export function addSecretOptions(command: Command): Command {
  return command
    .option("--secret <secret>", "the signing secret; others on this machine can see it in the process list", collect)
    .option("--secret-file <file>", "a file with the signing secret, or several, one a line", notBlank);
}

/**
 * The signing secrets, at least one. A secret is never trimmed, since a blank may belong to it. If it does not, `verify`
 * reports it.
 */
export function readSecrets(options: SecretOptions, { env }: Pick<Cli, "env">): [string, ...string[]] {
  const { secret, secretFile } = options;
  if (secret !== undefined && secretFile !== undefined) throw usageError("give --secret or --secret-file, not both");
  if (secret !== undefined) return usable(secret, "--secret");
  if (secretFile !== undefined) return usable(linesOf(secretFile), `the file ${secretFile}`);
  const fromEnv = env["SIGNALS_SECRET"];
  if (fromEnv !== undefined && fromEnv !== "") return usable([fromEnv], "SIGNALS_SECRET");
  throw usageError("no signing secret: set SIGNALS_SECRET, or give --secret <secret> or --secret-file <file>");
}

function linesOf(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw environmentError(`cannot read the secret file ${file} (${(error as NodeJS.ErrnoException).code ?? "error"})`);
  }
  return secretLines(text);
}

function usable(secrets: readonly string[], source: string): [string, ...string[]] {
  const [first, ...others] = secrets;
  if (first !== undefined && secrets.every(isUsableSecret)) return [first, ...others];
  throw usageError(`${source} holds no secret: give the one that the service showed when the webhook was registered`);
}
