import { execFile, fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

/**
 * Puts a program on a free port, and tells it in a message or, if no process listens to those, in a
 * line.
 */
export const ANY_PORT = new URL("any-port.mjs", import.meta.url).href;

/** Starts a script of a folder on a free port. It is killed when the test is over. */
export function startOnAnyPort(
  folder: string,
  file: string,
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const child = fork(join(folder, file), {
    cwd: folder,
    execArgv: ["--import", ANY_PORT],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const BIN = new URL("bin", import.meta.url).pathname;

/**
 * Types a line in a folder where the package is installed, with a shorter npx; that npm's own finds
 * the command is seen in replay-against.ts. Rejects unless the line exits with 0.
 *
 * @returns what it printed
 */
export async function typeIn(folder: string, line: string): Promise<string> {
  const env = { ...process.env, PATH: `${BIN}:${process.env["PATH"] ?? ""}` };
  const { stdout } = await promisify(execFile)("sh", ["-ec", line], { cwd: folder, env });
  return stdout;
}
