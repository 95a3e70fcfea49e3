/** The exit codes of the process. */
export const EXIT = {
  ok: 0,
  /** A check failed: of a signature, of an answer, of an event to move. */
  failed: 1,
  usage: 2,
  /** Unreachable, port busy, no such file, store in trouble. */
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

/** The command line is right, but something else is not: a file, a port, a service. */
export function environmentError(message: string): CliError {
  return new CliError(EXIT.environment, message);
}
