import type { ExitCode } from "./exit.js";
import type { Terminal } from "./terminal.js";

export interface Cli {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  terminal: Terminal;
  /** Only for questions and a line that moves. Everything else is printed through `terminal`. */
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
  /** Sets work that must end before Ctrl-C ends the process; null when the work is done. */
  setUnfinished(work: UnfinishedWork | null): void;
}

export interface UnfinishedWork {
  /** The maximum time that the work can take after Ctrl-C. */
  atMostMs: number;
  /** Printed if the work takes longer, or if the user presses Ctrl-C again. */
  ifInterrupted: string;
}

export interface Outcome {
  exitCode: ExitCode;
  /** The start of an error line, such as `signalbox send`. */
  commandName: string;
  /** For a server: the exit code after an interruption. @default 130 */
  whenInterrupted?: ExitCode;
}
