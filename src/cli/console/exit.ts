import { codeOf } from "../../base/errors.js";
import { OptionError } from "../../base/options/option-error.js";

export const EXIT = {
  ok: 0,
  /**
   * A signature is not valid, an answer is not as expected, or an event could not be found or
   * changed.
   */
  failed: 1,
  usage: 2,
  /** A receiver is unreachable, a port is busy, a file is missing, or a store is unavailable. */
  environment: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command that throws it ends with this exit code, and prints the message on stderr. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** The error for a wrong command line (exit code 2). The message says what to type. */
export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}

/**
 * Names the flag if the library refuses its option. @param flags by option: `{ seed: "--seed" }`
 */
export function toUsageError(error: unknown, flags: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof OptionError) || !Object.hasOwn(flags, error.option)) return error;
  return usageError(`${flags[error.option]}: ${error.problem}`);
}

/**
 * The error for a correct command line whose file, port or service cannot be used (exit code 3).
 */
export function environmentError(message: string): CliError {
  return new CliError(EXIT.environment, message);
}

/**
 * A code such as `ENOENT` or `SQLITE_CANTOPEN`. It is printed instead of the error's message, which
 * can be long.
 */
export function errorCode(error: unknown): string {
  return codeOf(error) || "error";
}
