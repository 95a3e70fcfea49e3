import { execFile, fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

/** Puts a program on a free port, and tells it in a message or, if no process listens to those, in a line. */
export const ANY_PORT = new URL("any-port.mjs", import.meta.url).href;

/** Starts a script of a folder on a free port. It is killed when the test is over. */
export function startOnAnyPort(folder: string, file: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = fork(join(folder, file), {
    cwd: folder,
    execArgv: ["--import", ANY_PORT],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Types a line in a folder where the package is installed. Rejects unless it exits with 0. @returns what it printed */
export async function typeIn(folder: string, line: string): Promise<string> {
  // npx finds the installed command and needs no registry for it.
  const env = { ...process.env, npm_config_offline: "true" };
  const { stdout } = await promisify(execFile)("sh", ["-ec", line], { cwd: folder, env });
  return stdout;
}
