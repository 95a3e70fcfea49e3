import { Command, type CommandUnknownOpts } from "#commander";
import type { Cli, Outcome } from "./console/cli.js";
import { byNpx, commandPath, type CommandContext } from "./console/define-command.js";
import { usageError } from "./console/exit.js";
import { wrap } from "./console/terminal.js";
import { packageVersion } from "./init/signalbox-package.js";

const START = `
Start here:
  Show a receiver at work; needs no configuration:
    $ npx signalbox demo
  Make a new receiver:
    $ npx signalbox init my-receiver
  Run the service on this machine for the receiver that you develop:
    $ npx signalbox dev
  Send a signed event to a receiver on this machine:
    $ export SIGNALS_SECRET=…
    $ npx signalbox send test --url http://localhost:3000/webhooks/signals

Give the secret of a webhook as SIGNALS_SECRET, --secret or --secret-file; otherwise it is read from signals.secret.
Exit codes: 0 as expected, 1 a check failed, 2 wrong usage, 3 a file, port or service cannot be used, 130 interrupted.`;

const HELP_COLUMNS = 100;

/**
 * The commands in the order of the help. Only the typed command is loaded, because loading all
 * takes long. For the same reason a command's action itself imports what is large (`await import`),
 * so that the help of all commands does not wait for it.
 */
const COMMANDS: ReadonlyMap<
  string,
  () => Promise<(program: Command, context: CommandContext) => void>
> = new Map([
  ["init", async () => (await import("./init/init-command.js")).addInitCommand],
  ["dev", async () => (await import("./service/dev/dev-command.js")).addDevCommand],
  ["demo", async () => (await import("./service/demo/demo-command.js")).addDemoCommand],
  ["sign", async () => (await import("./deliveries/sign-command.js")).addSignCommand],
  ["verify", async () => (await import("./deliveries/verify-command.js")).addVerifyCommand],
  ["send", async () => (await import("./deliveries/send-command.js")).addSendCommand],
  ["replay", async () => (await import("./deliveries/replay-command.js")).addReplayCommand],
  ["check", async () => (await import("./probe/check/check-command.js")).addCheckCommand],
  ["doctor", async () => (await import("./probe/doctor/doctor-command.js")).addDoctorCommand],
  [
    "register",
    async () => (await import("./service/register/register-command.js")).addRegisterCommand,
  ],
  ["inbox", async () => (await import("./inbox/inbox-command.js")).addInboxCommand],
  ["trace", async () => (await import("./service/trace/trace-command.js")).addTraceCommand],
  [
    "emulator",
    async () => (await import("./service/emulator/emulator-command.js")).addEmulatorCommand,
  ],
]);

/**
 * With the typed command, or with all if the first word of `args` is none. The run sets `outcome`.
 */
export async function createProgram(
  cli: Cli,
  args: readonly string[],
  outcome: Outcome,
): Promise<Command> {
  const program = new Command("signalbox")
    .description(
      "Signs, sends, verifies and replays the signed webhook events of a Product Intelligence service.",
    )
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    // `emulator` has options and commands: an option behind a command's name belongs to that
    // command.
    .enablePositionalOptions()
    .configureOutput({
      // The terminal breaks the lines, not Commander.
      getOutHelpWidth: () => Infinity,
      writeOut: (text) =>
        cli.terminal.print(wrap(text.trimEnd(), Math.min(cli.terminal.columns, HELP_COLUMNS))),
      // `runCli` prints the error in one line instead.
      writeErr: () => undefined,
    })
    .configureHelp({
      subcommandDescription: (command) => command.description().replace(/(?<=\.) .*/s, ""),
    })
    .addHelpText("after", START);
  const typed = COMMANDS.get(args[0] ?? "");
  for (const load of typed === undefined ? COMMANDS.values() : [typed])
    (await load())(program, { cli, outcome });
  explainWrongUsage(program, outcome);
  return program;
}

function explainWrongUsage(command: CommandUnknownOpts, outcome: Outcome): void {
  command.exitOverride((error) => {
    const { exitCode, code, message } = error;
    if (exitCode === 0) throw error;
    const path = commandPath(command);
    outcome.commandName = path;
    const names = command.commands.map((subcommand) => subcommand.name());
    // Commander writes its suggestion on a line of its own.
    const words = message
      .replace(/^error: /, "")
      .replaceAll(/\s*\n\s*/g, " ")
      .replaceAll(/(?<=')[^']{81,}(?=')/g, (text) => `${text.slice(0, 80)}…`);
    const problem =
      code === "commander.help" ? `name a command: ${names.join(", ")}` : words.replace(/\.$/, "");
    throw usageError(`${problem}; see \`${byNpx(`${path} --help`)}\``);
  });
  for (const subcommand of command.commands) explainWrongUsage(subcommand, outcome);
}
