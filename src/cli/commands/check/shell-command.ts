import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, open, readFile, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { throwIfInterrupted } from "../../options/define-command.js";
import { environmentError } from "../../options/exit.js";
import { shortened } from "../../console/printable.js";

export interface ShellOptions {
  /** The option that the command was given with, for errors. */
  option: string;
  timeoutMs: number;
  /** What to do when it takes longer. */
  lateAdvice: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/**
 * Runs a command line of the user's and gives what it printed. Its output goes into files: a receiver that it leaves
 * running holds them open, and a pipe would be waited for, or break under it.
 *
 * @throws CliError when it fails, or does not end in time
 */
export async function runShellCommand(command: string, options: ShellOptions): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-check-"));
  const files: FileHandle[] = [];
  try {
    const [stdout, stderr] = [join(folder, "stdout"), join(folder, "stderr")];
    const out = await open(stdout, "w");
    const err = await open(stderr, "w");
    files.push(out, err);
    // A group of its own, so that all of it can be ended.
    const stdio = ["ignore", out.fd, err.fd] as const;
    const child = spawn(command, { shell: true, detached: true, stdio: [...stdio], env: options.env });
    const how = await whenEnded(child, options);
    throwIfInterrupted(options.signal);
    const said = shortened((await readFile(stderr, "utf8")).trim().split("\n").at(-1) ?? "", 200);
    if (how !== 0) throw environmentError(`${options.option} ${how}${said === "" ? "" : `: ${said}`}`);
    return await readFile(stdout, "utf8");
  } finally {
    await Promise.all(files.map((file) => file.close()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** 0, or why it is not. */
function whenEnded(child: ChildProcess, { timeoutMs, lateAdvice, signal }: ShellOptions): Promise<0 | string> {
  return new Promise((resolve) => {
    const settle = (how: 0 | string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      // One that ignores its end must not keep us.
      child.unref();
      resolve(how);
    };
    const endGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {
        // It is gone already.
      }
    };
    const stop = (): void => {
      endGroup();
      settle("was interrupted");
    };
    const timer = setTimeout(() => {
      endGroup();
      settle(`did not end within ${timeoutMs / 1000} s: ${lateAdvice}`);
    }, timeoutMs);
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", (error) => settle(`could not be started (${error.message})`));
    child.once("exit", (code, killedBy) => settle(code === 0 ? 0 : `ended with ${code ?? killedBy ?? "an error"}`));
    if (signal.aborted) stop();
  });
}
