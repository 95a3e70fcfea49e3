import type { ExitCode } from "../options/exit.js";
import type { UnfinishedWork } from "./interruption.js";
import type { Terminal } from "./terminal.js";

/** What a command may touch of the process. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  terminal: Terminal;
  /** Where a person is asked; all that is printed goes through `terminal`. */
  stderr: NodeJS.WriteStream;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Says what Ctrl-C should not cut short; null when that is done. */
  setUnfinished(work: UnfinishedWork | null): void;
}

/** What a run leaves behind for the process. */
export interface Outcome {
  exitCode: ExitCode;
  /** Who speaks in an error line. */
  commandName: string;
}
