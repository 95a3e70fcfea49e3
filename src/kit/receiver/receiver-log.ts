import type { Logger } from "pino";
import {
  describeError,
  errorName,
  isError,
  isSignalboxError,
  safely,
  signalboxCode,
  ignore,
} from "../../base/errors.js";
import type { Clock } from "../../base/time/clock.js";

type Level = "debug" | "info" | "warn" | "error";

/** The methods that a logger must have. `handoff.logger` needs `child`. */
export const LOGGER_METHODS = ["debug", "info", "warn", "error", "child"] as const;

export type ReceiverLog = ReturnType<typeof createReceiverLog>;

/**
 * Writes the receiver's lines to the user's logger. Errors of the logger are dropped: they must not
 * end the process, or a hand-off before its settlement.
 */
export function createReceiverLog(logger: Logger, logErrors: boolean) {
  /** @returns false if the logger threw */
  function write(level: Level, fields: object, text: string): boolean {
    try {
      const written: unknown = logger[level](fields, text);
      if (written instanceof Promise) written.catch(ignore);
      return true;
    } catch {
      return false;
    }
  }
  const lineOf = (level: Level) => (fields: object, text: string) =>
    void write(level, fields, text);

  /**
   * Writes a line about an error of the user's code: in full, or with `logErrors: false` its name
   * alone.
   */
  function failure(level: Level, fields: object, error: unknown, text: string): void {
    const named = { ...fields, errorName: errorName(error) };
    // The logger may be unable to serialise an error, for example one that is frozen or has a
    // getter that throws. A value that is no error may be a whole payload. Both are written as
    // text.
    if (!logErrors) write(level, named, text);
    else if (!isError(error) || !write(level, { ...named, err: error }, text)) {
      write(level, { ...named, err: describeError(error) }, text);
    }
  }

  return {
    debug: lineOf("debug"),
    info: lineOf("info"),
    warn: lineOf("warn"),
    error: lineOf("error"),
    failure,
    /** Like `failure`, but an error of this package is told by its code and text alone. */
    problem(level: Level, fields: object, error: unknown, text: string): void {
      const told = { code: errorCode(error), problem: errorText(error), ...fields };
      if (isSignalboxError(error)) write(level, told, text);
      else failure(level, told, error, text);
    },
  };
}

export function errorCode(error: unknown): string {
  return signalboxCode(error) ?? errorName(error);
}

/**
 * @returns what happened and what to do; undefined unless it is a SignalboxError, because other
 * messages may quote the payload
 */
export function errorText(error: unknown): string | undefined {
  return isSignalboxError(error) ? safely(() => error.message, undefined) : undefined;
}

export type LogThrottle = ReturnType<typeof createLogThrottle>;

const WINDOW_MS = 1000;

/**
 * Allows one line a second for each key, so that a flood of forged deliveries does not become a
 * flood of log lines.
 *
 * @returns a function. It returns null when the line must be suppressed; otherwise how many lines
 * with this key were suppressed since the last written line.
 */
export function createLogThrottle(clock: Clock) {
  const windows = new Map<string, { endsAt: number; suppressed: number }>();
  return (key: string): number | null => {
    const now = clock.elapsed();
    const window = windows.get(key);
    if (window !== undefined && now < window.endsAt) {
      window.suppressed += 1;
      return null;
    }
    windows.set(key, { endsAt: now + WINDOW_MS, suppressed: 0 });
    return window?.suppressed ?? 0;
  };
}
