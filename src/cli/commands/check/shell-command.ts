import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { throwIfInterrupted } from "../../options/define-command.js";
import { environmentError } from "../../options/exit.js";
import { shortened } from "../../console/printable.js";

export interface ShellOptions {
  option: string;
  timeoutMs: number;
  /** Advice that is added to the error when the command takes longer than `timeoutMs`. */
  lateAdvice: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/**
 * Runs a command line of the user and returns what it printed. The output goes into files. A receiver that the command starts
 * keeps its output open, so with a pipe this process would wait until that receiver ends.
 *
 * @throws CliError when the command fails, or does not end in time
 */
export async function runShellCommand(command: string, options: ShellOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-check-"));
  const paths = [join(folder, "stdout"), join(folder, "stderr")] as const;
  const [stdout, stderr] = [openSync(paths[0], "w"), openSync(paths[1], "w")];
  try {
    // `detached` starts a new process group, so that endGroup ends all processes of the command.
    const stdio = ["ignore", stdout, stderr] as ["ignore", number, number];
    const child = spawn(command, { shell: true, detached: true, stdio, env: options.env });
    const failure = await failureOf(child, options);
    throwIfInterrupted(options.signal);
    const lastLine = shortened(readFileSync(paths[1], "utf8").trim().split("\n").at(-1) ?? "", 200);
    if (failure !== null)
      throw environmentError(`${options.option} ${failure}${lastLine === "" ? "" : `: ${lastLine}`}`);
    return readFileSync(paths[0], "utf8");
  } finally {
    closeSync(stdout);
    closeSync(stderr);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns why the command failed; null if it succeeded */
async function failureOf(child: ChildProcess, { timeoutMs, lateAdvice, signal }: ShellOptions): Promise<string | null> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const ending = once(child, "exit", { signal: AbortSignal.any([signal, late]) });
    const [code, killedBy] = (await ending) as [number | null, string | null];
    return code === 0 ? null : `ended with ${code ?? killedBy ?? "an error"}`;
  } catch (error) {
    if (!signal.aborted && !late.aborted) return `could not be started (${(error as Error).message})`;
    endGroup(child);
    return `did not end within ${timeoutMs / 1000} s: ${lateAdvice}`;
  } finally {
    // A command that ignores SIGTERM must not keep this process running.
    child.unref();
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch {
    // The process group has ended already.
  }
}
