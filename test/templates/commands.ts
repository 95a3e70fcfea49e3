import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { watchText } from "../cli/watch-text.js";

/**
 * npm and vitest set variables for the programs that they run. These are removed, as in a shell of
 * a user.
 */
const OF_OURS = /^(npm_(?!config_)|node_env$|vitest|force_color$|signals_secret$|redis_url$)/i;
const ENV = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_OURS.test(name))),
  NO_COLOR: "1",
};

export interface Printed {
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. Rejects with all it printed when it fails. */
export async function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Printed> {
  try {
    const options = { cwd, env: { ...ENV, ...env }, maxBuffer: 64 * 1024 * 1024 };
    return await promisify(execFile)(command, [...args], options);
  } catch (error) {
    const { stdout, stderr } = error as Printed;
    const line = [command, ...args].join(" ");
    throw new Error(`\`${line}\` failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

export interface Running {
  /**
   * Resolves with the lines so far that match, once there are `count` of them. Rejects when it ends
   * first.
   */
  linesWith(pattern: RegExp, count?: number): Promise<string[]>;
  /**
   * Sends SIGTERM to the command and all that it started, as a terminal does with Ctrl-C, and waits
   * for their end.
   *
   * @returns the exit code of the command
   */
  stop(): Promise<number | null>;
}

/** Starts a command that goes on; it is killed when the test is over. */
export function start(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Running {
  // A process group of its own, so that what npm started goes with it.
  const child = spawn(command, args, { cwd, env: { ...ENV, ...env }, detached: true });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  const { add, until } = watchText(closed);
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => add(`${line}\n`));
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  });
  return {
    linesWith(pattern, count = 1) {
      return until((text) => {
        const matching = text.split("\n").filter((line) => pattern.test(line));
        return matching.length >= count && matching;
      }, pattern);
    },
    async stop() {
      // To the group: npm does not pass it on, since there is a shell between.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      return closed;
    },
  };
}
