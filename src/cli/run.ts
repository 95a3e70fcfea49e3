import { setMaxListeners } from "node:events";
import { CommanderError } from "#commander";
import { isSignalboxError } from "../base/errors.js";
import { systemClock } from "../base/time/clock.js";
import type { Cli, Outcome } from "./console/cli.js";
import { CliError, EXIT, type ExitCode } from "./console/exit.js";
import { createInterruption } from "./console/interruption.js";
import { printable, createTerminal } from "./console/terminal.js";
import { createProgram } from "./program.js";

/**
 * Runs the command line of this process. Only this function reads `process.argv` and `process.env`.
 */
export async function runProcess(): Promise<void> {
  const { env, stdin, stdout, stderr } = process;
  const terminal = createTerminal(stdout, stderr, env);
  const { signal, setUnfinished, interrupt } = createInterruption({
    clock: systemClock,
    note: terminal.note,
    exit: () => process.exit(EXIT.interrupted),
  });
  // Each open request adds a listener. Without this call, Node would warn about a leak when there
  // are more than ten.
  setMaxListeners(0, signal);
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  process.exitCode = await runCli(process.argv.slice(2), {
    env,
    stdin,
    stderr,
    terminal,
    signal,
    setUnfinished,
  });
}

/** Runs one command line. Never rejects: an error becomes a line on stderr and an exit code. */
export async function runCli(args: readonly string[], cli: Cli): Promise<ExitCode> {
  const outcome: Outcome = { exitCode: EXIT.ok, commandName: "signalbox" };
  try {
    // Inside the try, because this call imports modules. If one is missing, the user gets an error
    // line.
    const program = await createProgram(cli, args, outcome);
    await program.parseAsync(args, { from: "user" }).catch(ignoreEndOfHelp);
    await cli.terminal.flush();
    return cli.signal.aborted ? (outcome.whenInterrupted ?? EXIT.interrupted) : outcome.exitCode;
  } catch (error) {
    if (cli.signal.aborted) return EXIT.interrupted;
    const { exitCode, message } = explain(error);
    cli.terminal.note(`${cli.terminal.notePaint.red(outcome.commandName)}: ${message}`);
    return exitCode;
  } finally {
    cli.terminal.progress(null);
  }
}

/** Ignores the error that Commander throws after it has printed the help or the version. */
function ignoreEndOfHelp(error: unknown): void {
  if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
}

// Errors with these codes are mistakes in the command line. All other codes are about the store,
// the emulator or the system.
const USAGE_CODES: ReadonlySet<unknown> = new Set([
  "secret_invalid",
  "timestamp_invalid",
  "option_unknown",
  "option_invalid",
]);

function explain(error: unknown): { exitCode: ExitCode; message: string } {
  if (error instanceof CliError)
    return { exitCode: error.exitCode, message: printable(error.message) };
  const isOfSystem = error instanceof Error && "code" in error && "syscall" in error;
  if (isSignalboxError(error) || isOfSystem) {
    const exitCode = USAGE_CODES.has(error.code) ? EXIT.usage : EXIT.environment;
    return { exitCode, message: printable(error.message) };
  }
  // This is a bug in signalbox, so the stack is printed for a bug report.
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: EXIT.environment, message: `unexpected error, please report it:\n${details}` };
}
