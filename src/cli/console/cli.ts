import type { ExitCode } from "../options/exit.js";
import type { UnfinishedWork } from "./interruption.js";
import type { Terminal } from "./terminal.js";

/** What a command may touch of the process. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  terminal: Terminal;
  /** For questions to a user. All that is printed goes through `terminal`. */
  stderr: NodeJS.WriteStream;
  /** Aborts on Ctrl-C and SIGTERM. */
  signal: AbortSignal;
  /** Names work that Ctrl-C must not cut short; null when it is done. */
  setUnfinished(work: UnfinishedWork | null): void;
}

/** What a run has for its caller when it ends. */
export interface Outcome {
  exitCode: ExitCode;
  /** The start of an error line: `signalbox send`. */
  commandName: string;
  /** For a server: the exit code after an interruption. @default 130 */
  whenInterrupted?: ExitCode;
}
