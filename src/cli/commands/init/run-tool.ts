import { spawn } from "node:child_process";

/** How another program ended: `missing` when there is none of that name. */
export type ToolOutcome = "ok" | "failed" | "missing";

export interface ToolOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Whether its output is shown, on our stderr. */
  isShown: boolean;
}

/** Runs it to its end. It gets no stdin, so that it cannot wait for an answer. */
export function runTool(
  command: string,
  args: readonly string[],
  { cwd, env, signal, isShown }: ToolOptions,
): Promise<ToolOutcome> {
  const output = isShown ? 2 : "ignore";
  const isWindows = process.platform === "win32";
  return new Promise((resolve) => {
    // Package managers are scripts on Windows; the arguments are all our own.
    const child = spawn(command, args, { cwd, env, signal, stdio: ["ignore", output, output], shell: isWindows });
    child.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ENOENT" ? "missing" : "failed"));
    child.once("close", (exitCode) => resolve(exitCode === 0 ? "ok" : "failed"));
  });
}
