import { spawn } from "node:child_process";
import { systemClock } from "../../../time/clock.js";

export interface RunningCommand {
  /** Resolves when the command has ended, to how: `exit code 1`. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL to a command that does not end. Resolves when the command has ended. */
  stop(): Promise<void>;
}

/** How long the command has to end. */
export const STOP_MS = 10_000;

/** Starts the command of the user. It gets no stdin, because the keys are for this process. */
export function startCommand(
  [file = "", ...args]: readonly string[],
  { env, stdout }: { env: NodeJS.ProcessEnv; stdout: "stdout" | "stderr" },
): RunningCommand {
  const child = spawn(file, args, { env, stdio: ["ignore", stdout === "stdout" ? 1 : 2, 2] });
  const ended = new Promise<string>((resolve) => {
    child.once("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve(code === "ENOENT" ? "there is no such command" : (code ?? message)),
    );
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    ended,
    async stop() {
      child.kill("SIGTERM");
      const timer = systemClock.setTimeout(() => void child.kill("SIGKILL"), STOP_MS);
      await ended;
      timer.cancel();
    },
  };
}
