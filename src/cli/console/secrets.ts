import { existsSync } from "node:fs";
import { Option } from "#commander";
import { secretLines } from "../../kit/receiver/secret-file.js";
import { isUsableSecret } from "../../kit/senders/signature/secret.js";
import type { Cli } from "./cli.js";
import { usageError } from "./exit.js";
import { collect, notEmpty } from "./parse-option.js";
import { readBytes } from "./read-input.js";

export interface SecretOptions {
  secret?: string[];
  secretFile?: string;
  sender?: string;
}

/** The variable of the environment with a sender's secret, such as `STRIPE_WEBHOOK_SECRET`. */
export function secretVariable(sender: string): string {
  return `${sender.toUpperCase().replaceAll("-", "_")}_WEBHOOK_SECRET`;
}

/** The file in the current folder that `register` writes and that receivers made by `init` read. */
export const DEFAULT_SECRET_FILE = "signals.secret";

export const SECRET = new Option(
  "--secret <secret>",
  "the signing secret; other users can see it",
).argParser(collect);
export const SECRET_FILE = new Option(
  "--secret-file <file>",
  `a file with a signing secret on each line (default: SIGNALS_SECRET, otherwise ${DEFAULT_SECRET_FILE} in this folder)`,
).argParser(notEmpty);

/**
 * Reads at least one signing secret. A secret is not trimmed, because a space at its end may be
 * part of it. If the space is a mistake, `verify` and `doctor` report it.
 */
export function readSecrets(
  options: SecretOptions,
  { env }: Pick<Cli, "env">,
): [string, ...string[]] {
  const { secret, secretFile, sender } = options;
  const variable = sender === undefined ? "SIGNALS_SECRET" : secretVariable(sender);
  if (secret !== undefined && secretFile !== undefined)
    throw usageError("give --secret or --secret-file, not both");
  if (secret !== undefined) return usable(secret, "--secret");
  if (secretFile !== undefined) return secretsIn(secretFile);
  const fromEnv = env[variable];
  if (fromEnv !== undefined && fromEnv !== "") return usable([fromEnv], variable);
  if (sender !== undefined)
    throw usageError(`no signing secret: give --secret-file <file>, or set ${variable}`);
  if (existsSync(DEFAULT_SECRET_FILE)) return secretsIn(DEFAULT_SECRET_FILE);
  throw usageError(
    `no signing secret: this folder has no ${DEFAULT_SECRET_FILE}, so give --secret-file <file>, or set SIGNALS_SECRET`,
  );
}

function secretsIn(file: string): [string, ...string[]] {
  const text = readBytes(file, `the secret file ${file}`).toString();
  return usable(secretLines(text), `the file ${file}`);
}

function usable(secrets: readonly string[], source: string): [string, ...string[]] {
  const [first, ...others] = secrets;
  if (first !== undefined && secrets.every(isUsableSecret)) return [first, ...others];
  throw usageError(
    `${source} contains no secret: use the secret that the service showed when the webhook was registered`,
  );
}
