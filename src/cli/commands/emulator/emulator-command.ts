import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Emulator } from "../../../emulator/instance/create-emulator.js";
import type { EmulatorEvent } from "../../../emulator/instance/events.js";
import type { EmulatorOptions } from "../../../emulator/instance/options.js";
import { runs, withExamples, type CommandContext } from "../../options/define-command.js";
import { environmentError, EXIT, toUsageError, type ExitCode } from "../../options/exit.js";
import { isTermination } from "../../console/interruption.js";
import { collect, notBlank, wholeNumber } from "../../options/parse-option.js";
import { isoTime, readAssumptions } from "./emulator-settings.js";
import { reportEvent } from "./report-event.js";

interface EmulatorCommandOptions {
  port: number;
  host: string;
  controlToken?: string;
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
    .option(
      "--control-token <token>",
      "the control API answers callers with this token, from any machine, and no others. Without it every user of this " +
        "machine can read all signing secrets from its snapshot. Others see it in the process list (default: SIGNALS_CONTROL_TOKEN)",
      notBlank,
    )
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
      "For a script: the first line has the addresses, the keys and the pid",
    ],
    ["signalbox emulator --openapi > openapi.json", "The OpenAPI document"],
  ]);
  runs(command, context, (options: EmulatorCommandOptions) => runEmulator(options, context));
}

async function runEmulator(options: EmulatorCommandOptions, { cli, outcome }: CommandContext): Promise<ExitCode> {
  const { terminal, signal } = cli;
  // Imported here: other commands start faster without them.
  if (options.openapi) {
    const { openApiDocument } = await import("../../../api/openapi/openapi-document.js");
    terminal.print(JSON.stringify(openApiDocument(), null, 2));
    return EXIT.ok;
  }
  assertFolder();
  const assumptions = await readAssumptions(options.assume ?? [], options.allowLoopbackHttp ?? false);
  const { port, host, db, seed, now: startAt } = options;
  const isNew = db === undefined || !existsSync(db);
  const { demoAccounts, reportStart } = await import("./report-start.js");
  // The accounts of a file are in it, and their keys were shown when it was made.
  const accounts = isNew ? demoAccounts() : [];
  const isJson = options.json ?? false;
  const controlToken = options.controlToken ?? (cli.env["SIGNALS_CONTROL_TOKEN"] || undefined);
  const start = { host, assumptions, accounts, db, isNew, isJson, controlToken };
  let controlUrl: string | null = null;
  const reporting = { isJson, controlUrl: () => controlUrl, needsToken: controlToken !== undefined };
  const onEvent = (event: EmulatorEvent): void => reportEvent(event, terminal, reporting);
  const emulator = await open({ port, host, db, seed, startAt, accounts, assumptions, controlToken, onEvent });
  try {
    controlUrl = `${emulator.url}/_emulator`;
    await reportStart(emulator, start, terminal);
    await untilAborted(signal);
  } finally {
    await emulator.close();
  }
  // Ctrl-C is an interruption as in every command. SIGTERM is the normal end of a server.
  if (isTermination(signal)) outcome.whenInterrupted = EXIT.ok;
  return EXIT.interrupted;
}

/** A module of Express reads the folder, and ends the process with a stack if it was deleted. @throws CliError */
function assertFolder(): void {
  try {
    process.cwd();
  } catch {
    throw environmentError("the folder you are in was deleted: change into one that is there");
  }
}

/** @throws CliError when Express is missing, or when an option is wrong */
async function open(options: EmulatorOptions): Promise<Emulator> {
  try {
    const { createEmulator } = await import("../../../emulator/instance/create-emulator.js");
    const emulator = createEmulator(options);
    await emulator.start();
    return emulator;
  } catch (error) {
    if (String(error).includes("'express'"))
      throw environmentError("the emulator needs Express: run `npm install express`");
    throw toUsageError(error, { seed: "--seed", controlToken: "--control-token" });
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
