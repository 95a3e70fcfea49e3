import { OptionError } from "../../options/option-error.js";

export const EXIT = {
  ok: 0,
  /** A check failed: of a signature, an answer, or the state of an event. */
  failed: 1,
  usage: 2,
  /** Unreachable, port busy, no such file, store unavailable. */
  environment: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with an exit code and one line on stderr. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. The message says what to type. */
export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}

/**
 * Turns the refusal of a library option into a usage error. Any other error is returned unchanged.
 *
 * @param flags the command line flag of each library option: `{ seed: "--seed" }`
 */
export function toUsageError(error: unknown, flags: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof OptionError) || !Object.hasOwn(flags, error.option)) return error;
  return usageError(`${flags[error.option]}: ${error.problem}`);
}

/** The command line is right, but a file, a port or a service is not. */
export function environmentError(message: string): CliError {
  return new CliError(EXIT.environment, message);
}

/** `ENOENT`, `SQLITE_CANTOPEN`. The error's message may quote more than a line on stderr should show. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "error";
}
