import type { ExitCode } from "../options/exit.js";
import type { UnfinishedWork } from "./interruption.js";
import type { Terminal } from "./terminal.js";

export interface Cli {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  terminal: Terminal;
  /** For questions to a user. Print through `terminal`. */
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
  /** Sets work that Ctrl-C must not cut short; null when that work is done. */
  setUnfinished(work: UnfinishedWork | null): void;
}

export interface Outcome {
  exitCode: ExitCode;
  /** Starts an error line: `signalbox send`. */
  commandName: string;
  /** For a server: the exit code after an interruption. @default 130 */
  whenInterrupted?: ExitCode;
}
