import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { printable, shortened } from "../../console/printable.js";

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

/** The levels of pino: 10, 20 and so on. */
const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Of little use beside the other lines of `dev`, or said before. */
const LEFT_OUT = new Set(
  "level time msg pid hostname name err endpoint errorName eventId kind".split(" "),
);
/** Nearly every event has it. */
const USUAL_TYPE = "signal.published";
const LONGEST_VALUE = 80;

/**
 * A line of pino as one short line: level, message, fields, and the first line of an error. Another
 * line stays as it is.
 */
export function shortLogLine(line: string): string {
  const entry = line.startsWith("{") ? parsed(line) : null;
  const level = LEVELS[(entry?.["level"] as number) / 10 - 1];
  if (entry === null || level === undefined) return line;
  const { msg = "", err } = entry;
  const fields = Object.entries(entry)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== null && value !== USUAL_TYPE)
    .map(
      ([name, value]) =>
        `${name}=${typeof value === "string" ? shortTime(value) : JSON.stringify(value)}`,
    );
  const { type = "", message = "" } = (err ?? {}) as { type?: string; message?: string };
  const error = err === undefined ? [] : [`${type}: ${message.split("\n", 1)[0] ?? ""}`];
  const words = [...error, ...fields].map((word) => shortened(word, LONGEST_VALUE));
  return [`${level}: ${printable(String(msg))}`, ...words].join("  ");
}

/** A date-time as the time of day, as the other lines of `dev` have it. */
function shortTime(text: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? new Date(text).toTimeString().slice(0, 8) : text;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
