import { CommanderError } from "commander";
import { isClientError } from "../client/client-error.js";
import { isSignalboxError } from "../errors.js";
import type { Cli, Outcome } from "./console/cli.js";
import { CliError, EXIT, type ExitCode } from "./options/exit.js";
import { assertOptionValues } from "./options/option-values.js";
import { printable } from "./console/printable.js";
import { createProgram } from "./program.js";

/** Runs one command line. Never rejects: whatever goes wrong is a line on stderr and an exit code. */
export async function runCli(args: readonly string[], cli: Cli): Promise<ExitCode> {
  const outcome: Outcome = { exitCode: EXIT.ok, commandName: "signalbox" };
  try {
    // It loads modules: what cannot be loaded is told as all else is.
    const program = await createProgram(cli, args, outcome);
    assertOptionValues(program, args);
    await program.parseAsync(args, { from: "user" }).catch(ignoreEndOfHelp);
    await cli.terminal.flush();
    return cli.signal.aborted ? EXIT.interrupted : outcome.exitCode;
  } catch (error) {
    if (cli.signal.aborted) return EXIT.interrupted;
    const { exitCode, message } = explain(error);
    cli.terminal.note(`${cli.terminal.notePaint.red(outcome.commandName)}: ${message}`);
    return exitCode;
  } finally {
    cli.terminal.progress(null);
  }
}

/** Commander throws after it printed help or the version. */
function ignoreEndOfHelp(error: unknown): void {
  if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
}

// A mistake in what was typed; all other errors of ours are about the store.
const USAGE_CODES: ReadonlySet<string> = new Set([
  "secret_invalid",
  "timestamp_invalid",
  "option_unknown",
  "option_invalid",
]);

function explain(error: unknown): { exitCode: ExitCode; message: string } {
  if (error instanceof CliError) return { exitCode: error.exitCode, message: printable(error.message) };
  if (isSignalboxError(error)) {
    const exitCode = USAGE_CODES.has(error.code) ? EXIT.usage : EXIT.environment;
    return { exitCode, message: printable(error.message) };
  }
  if (isClientError(error)) {
    const exitCode = error.kind === "invalid_request" || error.kind === "api_key" ? EXIT.usage : EXIT.environment;
    return { exitCode, message: printable(error.message) };
  }
  if (error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error) {
    return { exitCode: EXIT.environment, message: printable(error.message) };
  }
  // A bug of ours: the stack is what the report needs.
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: EXIT.environment, message: `unexpected error, please report it:\n${details}` };
}
