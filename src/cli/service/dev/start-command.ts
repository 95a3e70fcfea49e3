import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

export interface RunningCommand {
  /** Resolves when the command has ended by itself or was stopped, to how: `exit code 1`. */
  readonly ended: Promise<string>;
  /**
   * Sends SIGTERM, and SIGKILL to what does not end. Resolves when all processes of the command
   * have ended.
   */
  stop(): Promise<void>;
}

/**
 * How long the command has to end: longer than a receiver waits for its callbacks
 * (`DEFAULT_GRACE_MS`), or they would be killed.
 */
export const STOP_MS = 15_000;
const LOOK_MS = 20;

/** Starts the command of the user. It gets no stdin, because the keys are for this process. */
export function startCommand(
  [file = "", ...args]: readonly string[],
  {
    env,
    stdout,
  }: { env: NodeJS.ProcessEnv; stdout: "stdout" | "stderr" | ((line: string) => void) },
): RunningCommand {
  const target = typeof stdout === "function" ? "pipe" : stdout === "stdout" ? 1 : 2;
  // Its own process group, because a command such as `npm start` ends before the process that it
  // has started.
  const child = spawn(file, args, { env, stdio: ["ignore", target, 2], detached: true });
  if (child.stdout !== null && typeof stdout === "function")
    createInterface({ input: child.stdout }).on("line", stdout);
  const ended = new Promise<string>((resolve) => {
    child.once("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve(code === "ENOENT" ? "there is no such command" : (code ?? message)),
    );
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });

  /** @returns whether a process of the group runs. The signal 0 only asks. */
  function signalGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  }

  return {
    ended,
    async stop() {
      signalGroup("SIGTERM");
      const killsAt = performance.now() + STOP_MS;
      while (signalGroup(performance.now() < killsAt ? 0 : "SIGKILL")) await sleep(LOOK_MS);
    },
  };
}
