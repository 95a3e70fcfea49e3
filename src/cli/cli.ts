import type { Terminal } from "./terminal.js";

/** What a command may touch of the process. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  terminal: Terminal;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}
