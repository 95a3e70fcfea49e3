import { readFileSync, existsSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { InvalidArgumentError, Option } from "#commander";
import { secretLines } from "../../kit/receiver/secrets/secret-file.js";
import { isUsableSecret } from "../../kit/senders/signature/sign.js";
import type { Cli } from "./cli.js";
import { usageError, environmentError, errorCode } from "./exit.js";
import { echoed } from "./terminal.js";

export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    const bound =
      most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected a whole number ${bound}.`);
  };
}

export function numberOf(least: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? NaN : Number(text);
    if (Number.isFinite(value) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a number of at least ${least}.`);
  };
}

/** A parser for an option that can be repeated. It refuses an empty value. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), notEmpty(value)];
}

export function httpUrl(text: string): URL {
  // The scheme is checked too, because `localhost:3000` parses as a URL whose scheme is
  // "localhost".
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new InvalidArgumentError(
    "Expected an address like http://localhost:3000/webhooks/signals.",
  );
}

/**
 * A parser that refuses an empty value: the user probably typed `--option "$NAME"`, and the
 * variable is not set. It also refuses the next option, which Commander takes for the value:
 * `--secret-file --json` would write a file `--json`.
 */
export function notEmpty(text: string): string {
  if (text.trim() === "")
    throw new InvalidArgumentError("It is empty: give it a value, or leave the option out.");
  if (text.startsWith("--"))
    throw new InvalidArgumentError("It is an option: give a value before it.");
  return text;
}

/** @param example a pattern that matches a name; an error suggests it */
export function selectByName<Item>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  patterns: { only?: readonly string[]; skip?: readonly string[] },
  example: string,
): readonly Item[] {
  const { only = ["*"], skip = [] } = patterns;
  for (const [option, each] of Object.entries({ only, skip })) {
    const useless = each.find((pattern) => !all.some((item) => matchesName(nameOf(item), pattern)));
    if (useless !== undefined)
      throw usageError(
        `--${option} ${echoed(useless)}: nothing matches; try --${option} ${example}`,
      );
  }
  const matchesAny = (item: Item, each: readonly string[]): boolean =>
    each.some((pattern) => matchesName(nameOf(item), pattern));
  const chosen = all.filter((item) => matchesAny(item, only) && !matchesAny(item, skip));
  if (chosen.length === 0) throw usageError("--skip excludes everything");
  return chosen;
}

/**
 * A pattern with a `*` must match the whole name. A pattern without `*` must be a part of the name.
 */
function matchesName(name: string, pattern: string): boolean {
  if (!pattern.includes("*")) return name.includes(pattern);
  const source = pattern
    .split("*")
    .map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`, "s").test(name);
}

export async function readInput(file: string, cli: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  return file === "-" ? readStdin(cli) : readBytes(file);
}

const REASONS = new Map([
  ["ENOENT", "there is no such file"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "you may not read it"],
  ["ELOOP", "its links lead in a circle"],
  ["EIO", "its disk reports an error"],
]);

/** @throws CliError when `read` throws an error of the file system */
export function readFrom<Result>(what: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const code = errorCode(error);
    throw environmentError(`cannot read ${what}: ${REASONS.get(code) ?? code}`);
  }
}

/** @param what names the file in the error */
export function readBytes(file: string, what = file): Buffer {
  return readFrom(what, () => readFileSync(file));
}

/**
 * The variables of an `.env` file and of `env`. If both have a variable, the value in `env` is
 * used. `env` is not changed.
 */
export function readDotenv(file: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...parseEnv(readBytes(file).toString()), ...env };
}

async function readStdin({ stdin, signal }: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  // Without this error the command would wait until the user types the input, and would seem to
  // hang.
  if (stdin.isTTY)
    throw usageError("`-` reads stdin, which is a terminal: pipe the body in, or name a file");
  return buffer(addAbortSignal(signal, stdin));
}

/** The address of a receiver on this machine that `init` made. Its port is PORT, or 3000. */
export function receiverAddress(env: NodeJS.ProcessEnv): URL {
  const port = env["PORT"] || "3000";
  const address = `http://localhost:${port}/webhooks/signals`;
  if (/^\d+$/.test(port) && URL.canParse(address)) return new URL(address);
  throw usageError(`PORT is ${echoed(port)}, which is not a port: give --url`);
}

interface SecretOptions {
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
  // The file of a receiver that `init` made.
  const known = sender !== undefined && existsSync(".env") ? readDotenv(".env", env) : env;
  const fromEnv = known[variable];
  if (fromEnv !== undefined && fromEnv !== "") return usable([fromEnv], variable);
  if (sender !== undefined)
    throw usageError(
      `no signing secret: give --secret-file <file>, or set ${variable}, also in .env`,
    );
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
