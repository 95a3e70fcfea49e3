import { setMaxListeners } from "node:events";
import { systemClock } from "../time/clock.js";
import { EXIT } from "./options/exit.js";
import { createInterruption } from "./console/interruption.js";
import { runCli } from "./run-cli.js";
import { createTerminal } from "./console/terminal.js";

const exit = (): void => process.exit(EXIT.interrupted);

/** The command line as a process: the one place that reads `process.argv` and `process.env`. */
export async function runProcess(): Promise<void> {
  const { env, stdin, stdout, stderr } = process;
  const terminal = createTerminal(stdout, stderr, env);
  const { signal, setUnfinished, interrupt } = createInterruption({ clock: systemClock, note: terminal.note, exit });
  // One listener for each request in flight is no leak.
  setMaxListeners(0, signal);
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  process.exitCode = await runCli(process.argv.slice(2), { env, stdin, stderr, terminal, signal, setUnfinished });
}
