import { existsSync } from "node:fs";
import type { Command } from "commander";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { environmentError, EXIT, type ExitCode } from "../../options/exit.js";
import { toUsageError } from "../../options/to-usage-error.js";
import { isTermination } from "../../console/interruption.js";
import { collect, notBlank, wholeNumber } from "../../options/parse-option.js";
import { demoAccounts } from "./demo-accounts.js";
import { emulatorLogger } from "./emulator-logger.js";
import { isoTime, readAssumptions } from "./emulator-settings.js";
import { reportStart } from "./report-start.js";

interface EmulatorCommandOptions {
  port: number;
  host: string;
  db?: string;
  seed?: number;
  now?: string;
  assume?: string[];
  allowLoopbackHttp?: true;
  openapi?: true;
  json?: true;
}

export function addEmulatorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("emulator")
    .description(
      "Run the service itself on this machine: its REST API, its signals, and a control API to move its time.",
    )
    .option("--port <n>", "where it listens; 0 takes a free one", wholeNumber(0, 65_535), 4010)
    .option("--host <address>", "the address to listen on", notBlank, "127.0.0.1")
    .option("--db <file>", "keep everything in a file, and go on from it the next time", notBlank)
    .option("--seed <n>", "other data; the same number gives the same", wholeNumber(0))
    .option("--now <time>", "where its clock begins, such as 2026-11-01", isoTime)
    .option("--assume <name=value>", "what it does where the document says nothing (repeatable)", collect)
    .option("--allow-loopback-http", "let webhooks be plain HTTP on this machine, signed by its clock")
    .option("--openapi", "print the OpenAPI document of the REST API and end")
    .option("--json", "print NDJSON");
  withExamples(command, [
    ["signalbox emulator", "In memory, with an account of Pro and one of Developer Access"],
    ["signalbox emulator --db emulator.db --allow-loopback-http", "Kept, and sending to a receiver on this machine"],
    [
      "signalbox emulator --port 0 --json > emulator.ndjson &",
      "For a script: the first line tells all, and the pid to end it by",
    ],
    ["signalbox emulator --openapi > openapi.json", "The OpenAPI document"],
  ]);
  runs(command, context, (options: EmulatorCommandOptions) => runEmulator(options, context));
}

async function runEmulator(options: EmulatorCommandOptions, { cli, outcome }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  if (options.openapi) {
    // Here as below: other commands start faster without it.
    const { openApiDocument } = await import("../../../api/openapi/openapi-document.js");
    terminal.print(JSON.stringify(openApiDocument(), null, 2));
    return EXIT.ok;
  }
  assertFolder();
  const assumptions = await readAssumptions(options.assume ?? [], options.allowLoopbackHttp ?? false);
  const { createEmulator } = await loadEmulator();
  const { port, host, db, seed, now: startAt } = options;
  const isNew = db === undefined || !existsSync(db);
  // A file has accounts whose keys were shown when it was made, and a reset of it goes by those.
  const accounts = isNew ? demoAccounts() : [];
  const isJson = options.json ?? false;
  let url: string | null = null;
  const logger = await emulatorLogger(terminal, { isJson, url: () => url });
  const emulator = createEmulator({ port, host, db, seed, startAt, accounts, assumptions, logger });
  try {
    await emulator.start().catch((error: unknown) => {
      throw toUsageError(error, { seed: "--seed" });
    });
    ({ url } = emulator);
    await reportStart(emulator, { accounts, db, isNew, isJson }, terminal);
    const { startNotes } = await import("./start-notes.js");
    for (const line of await startNotes(emulator, { host, assumptions })) terminal.note(line);
    await untilAborted(signal);
  } finally {
    await emulator.close();
  }
  // Ctrl-C is an interruption as in every command. SIGTERM is the normal end of a server.
  if (isTermination(signal)) outcome.whenInterrupted = EXIT.ok;
  return EXIT.interrupted;
}

/** What Express loads asks for the folder, and ends the process with a stack when that was deleted. @throws CliError */
function assertFolder(): void {
  try {
    process.cwd();
  } catch {
    throw environmentError("the folder you are in was deleted: change into one that is there");
  }
}

/** No other command needs it, and all start faster without. */
async function loadEmulator() {
  try {
    return await import("../../../emulator/instance/create-emulator.js");
  } catch (error) {
    if (!String(error).includes("'express'")) throw error;
    throw environmentError("the emulator needs Express: run `npm install express`");
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
