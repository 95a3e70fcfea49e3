/** What the process says by its exit code. */
export const EXIT = {
  ok: 0,
  /** A check failed: a signature, an answer, a move. */
  failed: 1,
  usage: 2,
  /** Unreachable, port busy, no such file, store in trouble. */
  environment: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with one line on stderr. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** What was typed makes no sense; the message says what to type. */
export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}

/** What was typed makes sense, and something around us does not let it be. */
export function environmentError(message: string): CliError {
  return new CliError(EXIT.environment, message);
}
