import type { Command } from "commander";
import { secretLines } from "../../receiver/secret-file.js";
import { isUsableSecret } from "../../signature/secret.js";
import type { Cli } from "../console/cli.js";
import { usageError } from "./exit.js";
import { collect, notEmpty } from "./parse-option.js";
import { readBytes } from "./read-input.js";

export interface SecretOptions {
  secret?: string[];
  secretFile?: string;
}

export function addSecretOptions(command: Command): Command {
  return command
    .option("--secret <secret>", "the signing secret; other users see it in the process list", collect)
    .option("--secret-file <file>", "a file with a signing secret on each line; or set SIGNALS_SECRET", notEmpty);
}

/**
 * Reads at least one signing secret. A secret is not trimmed, because a space at its end may be part of it. If the space is a
 * mistake, `verify` and `doctor` report it.
 */
export function readSecrets(options: SecretOptions, { env }: Pick<Cli, "env">): [string, ...string[]] {
  const { secret, secretFile } = options;
  if (secret !== undefined && secretFile !== undefined) throw usageError("give --secret or --secret-file, not both");
  if (secret !== undefined) return usable(secret, "--secret");
  if (secretFile !== undefined) {
    const text = readBytes(secretFile, `the secret file ${secretFile}`).toString();
    return usable(secretLines(text), `the file ${secretFile}`);
  }
  const fromEnv = env["SIGNALS_SECRET"];
  if (fromEnv !== undefined && fromEnv !== "") return usable([fromEnv], "SIGNALS_SECRET");
  throw usageError("no signing secret: set SIGNALS_SECRET, or give --secret <secret> or --secret-file <file>");
}

function usable(secrets: readonly string[], source: string): [string, ...string[]] {
  const [first, ...others] = secrets;
  if (first !== undefined && secrets.every(isUsableSecret)) return [first, ...others];
  throw usageError(
    `${source} contains no secret: use the secret that the service showed when the webhook was registered`,
  );
}
