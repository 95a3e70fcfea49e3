import { readFile } from "node:fs/promises";
import type { Cli } from "../console/cli.js";
import { throwIfInterrupted } from "./define-command.js";
import { environmentError, usageError } from "./exit.js";

/** The bytes of a file, or of stdin for `-`, as they are. */
export async function readInput(file: string, cli: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  return file === "-" ? readStdin(cli) : readBytes(file);
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : (code ?? "error");
    throw environmentError(`cannot read ${file}: ${why}`);
  }
}

async function readStdin({ stdin, signal }: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  // The command would wait for the user, who waits for the command.
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
