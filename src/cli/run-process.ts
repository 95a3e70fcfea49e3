import { setMaxListeners } from "node:events";
import { EXIT } from "./exit.js";
import { runCli } from "./run-cli.js";
import { createTerminal } from "./terminal.js";

/** How long a command may take to close and clean up once it was interrupted. */
const CLEAN_UP_MS = 5000;

/** The command line as a process: the one place that reads `process.argv` and `process.env`. */
export async function runProcess(): Promise<void> {
  const interruption = new AbortController();
  // One listener for each request in flight is no leak.
  setMaxListeners(0, interruption.signal);
  const interrupt = (): void => {
    // The second Ctrl-C means it.
    if (interruption.signal.aborted) process.exit(EXIT.interrupted);
    interruption.abort();
    setTimeout(() => process.exit(EXIT.interrupted), CLEAN_UP_MS).unref();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  const { env, stdin, stdout, stderr } = process;
  process.exitCode = await runCli(process.argv.slice(2), {
    env,
    stdin,
    stderr,
    terminal: createTerminal(stdout, stderr, env),
    signal: interruption.signal,
  });
}
