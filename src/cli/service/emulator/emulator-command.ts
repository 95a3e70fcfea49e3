import { existsSync } from "node:fs";
import type { Command } from "#commander";
import { nearMiss } from "../../../base/options/option-error.js";
import type { AssumptionOptions } from "../../../service/emulator/instance/assumption-options.js";
import { runs, type CommandContext, type OptionsOf } from "../../console/define-command.js";
import { usageError } from "../../console/exit.js";
import { untilStopped } from "../../console/interruption.js";
import { collect, notEmpty, wholeNumber } from "../../console/options.js";
import { echoed } from "../../console/terminal.js";
import { addControlCommands } from "./control-commands.js";
import { createEventReporter, resumeCommand, resumePath } from "./report-event.js";
import { startEmulator } from "./start-emulator.js";

export function addCommand(program: Command, context: CommandContext) {
  const command = program
    .command("emulator")
    .description(
      "Run the service on this machine: its REST API, its remote MCP, its signals, and a control API that advances its clock.",
    )
    .option(
      "--port <n>",
      "the port to listen on; 0 chooses a free port",
      wholeNumber(0, 65_535),
      4010,
    )
    .option("--host <address>", "the address to listen on", notEmpty, "127.0.0.1")
    .option(
      "--control-token <token>",
      "the control API accepts only calls with this token, but then also from other machines. Without a token every user of " +
        "this machine can read all signing secrets. Other users can see the token in the process list, so prefer to set " +
        "SIGNALS_CONTROL_TOKEN",
      notEmpty,
    )
    .option(
      "--db <file>",
      "keep the state in this file; the next start continues from it",
      notEmpty,
    )
    .option(
      "--seed <n>",
      "generate different data; the same number gives the same data",
      wholeNumber(0),
    )
    .option(
      "--now <time>",
      "where the service's clock starts: 2026-11-01, or 2026-11-01T09:00:00Z",
      notEmpty,
    )
    .option(
      "--assume <name=value>",
      "set a behaviour that the document does not define (repeatable)",
      collect,
    )
    .option(
      "--allow-loopback-http",
      "allow http:// webhooks to this machine; signatures then use its clock",
    )
    .option("--openapi", "print the OpenAPI document of the REST API and exit")
    .option("--json", "print NDJSON")
    .enablePositionalOptions()
    // The action refuses them: Commander's message would not say that a command is misspelt.
    .allowExcessArguments();
  addControlCommands(command, context);
  runs(command, context, (options) => {
    const [word] = command.args;
    if (word === undefined) return runEmulator(options, context);
    const names = command.commands.map((each) => each.name());
    const meant = nearMiss(word, names);
    const advice = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`;
    throw usageError(`the emulator has no command ${echoed(word)}; ${advice}`);
  });
  return command;
}

type EmulatorCommandOptions = OptionsOf<typeof addCommand>;

async function runEmulator(
  options: EmulatorCommandOptions,
  { cli, outcome }: CommandContext,
): Promise<void> {
  const { terminal } = cli;
  if (options.openapi) {
    const { openApiDocument } =
      await import("../../../service/contract/openapi/openapi-document.js");
    terminal.print(JSON.stringify(openApiDocument(), null, 2));
    return;
  }
  const assumptions = await readAssumptions(
    options.assume ?? [],
    options.allowLoopbackHttp ?? false,
  );
  const { port, host, db, seed } = options;
  const startAt = options.now === undefined ? undefined : await startTime(options.now);
  const isNew = db === undefined || !existsSync(db);
  const { demoAccounts, reportStart } = await import("./report-start.js");
  // An existing file already has accounts, so none are added. Their keys were shown when the file
  // was created.
  const accounts = isNew ? demoAccounts() : [];
  const isJson = options.json ?? false;
  const controlToken = options.controlToken ?? (cli.env["SIGNALS_CONTROL_TOKEN"] || undefined);
  const start = { host, assumptions, accounts, db, isNew, isJson, controlToken };
  const onEvent = createEventReporter(terminal, {
    isJson,
    resumeHelp(id) {
      // An emulator with an existing file may send deliveries, and report their failures, before it
      // listens.
      if (url === null)
        return [`Fix the receiver, then call POST ${resumePath(id)} of the control API`];
      return ["Fix the receiver, then type:", resumeCommand(url, id, controlToken !== undefined)];
    },
  });
  let url: string | null = null;
  const emulator = await startEmulator({
    port,
    host,
    db,
    seed,
    startAt,
    accounts,
    assumptions,
    controlToken,
    onEvent,
  });
  try {
    ({ url } = emulator);
    await reportStart(emulator, start, terminal);
    await untilStopped(cli, outcome);
  } finally {
    await emulator.close();
  }
}

/** @param assigned `name=value`, as the user typed it */
export async function readAssumptions(
  assigned: readonly string[],
  allowLoopbackHttp: boolean,
): Promise<AssumptionOptions> {
  const { parseAssumption } =
    await import("../../../service/emulator/instance/assumption-options.js");
  const chosen = assigned.map((text) => {
    const equals = text.indexOf("=");
    if (equals === -1)
      throw usageError("--assume needs name=value, such as --assume pauseAfterFailures=3");
    const name = text.slice(0, equals);
    return [name, parseAssumption(name, text.slice(equals + 1))] as const;
  });
  // The cast is safe, because parseAssumption has checked each value.
  const assumptions = Object.fromEntries(chosen) as AssumptionOptions;
  // Loopback addresses mean that receivers run on this machine and use its clock. They would refuse
  // signatures with other timestamps, so signatures use this machine's clock too, unless --assume
  // says otherwise.
  if (!allowLoopbackHttp && assumptions.allowLoopbackHttp !== true) return assumptions;
  return { signatureClock: "machine", ...assumptions, allowLoopbackHttp: true };
}

async function startTime(typed: string): Promise<string> {
  const { dateTimeSchema } = await import("../../../service/contract/shared-schemas.js");
  const time = /^\d{4}-\d{2}-\d{2}$/.test(typed) ? `${typed}T00:00:00Z` : typed;
  if (dateTimeSchema.safeParse(time).success) return time;
  throw usageError("--now: expected a day or a time, such as 2026-11-01 or 2026-11-01T09:00:00Z");
}
