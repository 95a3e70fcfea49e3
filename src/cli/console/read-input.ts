import { readFileSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";
import { parseEnv } from "node:util";
import type { Cli } from "./cli.js";
import { environmentError, errorCode, usageError } from "./exit.js";
import { echoed } from "./printable.js";

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
