import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Cli } from "../console/cli.js";
import { throwIfInterrupted } from "./define-command.js";
import { environmentError, errorCode, usageError } from "./exit.js";

export async function readInput(file: string, cli: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  return file === "-" ? readStdin(cli) : readBytes(file);
}

/**
 * @param what the text that names the file in the error
 * @throws CliError when the file cannot be read
 */
export function readBytes(file: string, what = file): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = errorCode(error);
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : code;
    throw environmentError(`cannot read ${what}: ${why}`);
  }
}

/** The variables of an `.env` file and of `env`. If both have a variable, the value in `env` is used. `env` is not changed. */
export function readDotenv(file: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...parseEnv(readBytes(file).toString()), ...env };
}

async function readStdin({ stdin, signal }: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  // Without this error the command would wait until the user types the input, and would seem to hang.
  if (stdin.isTTY) throw usageError("`-` reads stdin, which is a terminal: pipe the body in, or name a file");
  const stop = (): void => void stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of stdin) chunks.push(chunk as Buffer);
  } catch (error) {
    throwIfInterrupted(signal);
    throw error;
  }
  throwIfInterrupted(signal);
  return Buffer.concat(chunks);
}
