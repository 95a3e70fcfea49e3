import { fork, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { run, start } from "../templates/commands.js";

/**
 * Puts a program on a free port, and tells it in a message or, if no process listens to those, in a
 * line.
 */
const ANY_PORT = new URL("any-port.mjs", import.meta.url).href;

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

/** Starts an app on a free port, with `line` such as `["node", "app.mjs"]`. */
export async function startApp(
  folder: string,
  [command = "node", ...args]: readonly string[],
  env: Record<string, string> = {},
) {
  const app = start(folder, command, args, { ...env, NODE_OPTIONS: `--import=${ANY_PORT}` });
  const [line = ""] = await app.linesWith(/^at port \d+$/);
  return { ...app, port: Number(line.replace("at port ", "")) };
}

/** Runs a module in a folder to its own end. @returns what it printed */
export async function runModule(
  folder: string,
  code: string,
  env: Record<string, string> = {},
): Promise<string> {
  writeFileSync(join(folder, "block.mjs"), code);
  return (await run(folder, process.execPath, ["block.mjs"], env)).stdout;
}

const BIN = new URL("bin", import.meta.url).pathname;

/**
 * Types a line in a folder where the package is installed, with a shorter npx; that npm's own finds
 * the command is seen in replay-against.ts. Rejects unless the line exits with 0.
 *
 * @returns what it printed
 */
export async function typeIn(folder: string, line: string): Promise<string> {
  const PATH = `${BIN}:${process.env["PATH"] ?? ""}`;
  return (await run(folder, "sh", ["-ec", line], { PATH })).stdout;
}
