import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
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
 * Runs a command line of the user's and returns what it printed. Its output goes into files: a receiver that it leaves running
 * holds them open. With a pipe, this process would wait for that receiver, or the pipe would break under it.
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
    // A process group of its own, so that all its processes can be ended.
    const stdio = ["ignore", out.fd, err.fd] as const;
    const child = spawn(command, { shell: true, detached: true, stdio: [...stdio], env: options.env });
    const failure = await failureOf(child, options);
    throwIfInterrupted(options.signal);
    const said = shortened((await readFile(stderr, "utf8")).trim().split("\n").at(-1) ?? "", 200);
    if (failure !== null) throw environmentError(`${options.option} ${failure}${said === "" ? "" : `: ${said}`}`);
    return await readFile(stdout, "utf8");
  } finally {
    await Promise.all(files.map((file) => file.close()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns why it did not end well; null when it did */
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
    // It has ended already.
  }
}
