import { readFileSync } from "node:fs";
import { Command, type CommanderError } from "commander";
import type { Cli, Outcome } from "./console/cli.js";
import { byNpx, commandPath, firstExampleOf, type CommandContext } from "./options/define-command.js";
import { usageError } from "./options/exit.js";
import { addHelpCommand, namesOfCommands } from "./commands/help-command.js";
import { echoed } from "./console/printable.js";

const EXAMPLES = `
Start here:
  $ npx signalbox demo                                                  see a receiver at work, no set-up
  $ npx signalbox init my-receiver                                      a new receiver of your own
  $ export SIGNALS_SECRET=…                                             the secret of your webhook
  $ npx signalbox send test --url http://localhost:3000/webhooks/signals
  $ npx signalbox replay --url http://localhost:3000/webhooks/signals   all fixtures, hostile ones too
  $ npx signalbox check http://localhost:3000/webhooks/signals          any receiver, against the service's document
  $ npx signalbox doctor --url http://localhost:3000/webhooks/signals   what is wrong with it, and how to fix it
  $ npx signalbox register --url https://… --all-types                  register it, keep the secrets
  $ npx signalbox inbox ls --db signals.db --state dead
  $ npx signalbox emulator                                              the service itself, on this machine

Secrets come from --secret, SIGNALS_SECRET or --secret-file.
Exit codes: 0 as expected, 1 a check failed, 2 wrong usage, 3 environment, 130 interrupted.`;

/** In the order of the help. A command is loaded when it is typed: to load all of them takes longer than most of them run. */
const COMMANDS: ReadonlyMap<string, () => Promise<(program: Command, context: CommandContext) => void>> = new Map([
  ["init", async () => (await import("./commands/init/init-command.js")).addInitCommand],
  ["demo", async () => (await import("./commands/demo/demo-command.js")).addDemoCommand],
  ["sign", async () => (await import("./commands/sign-command.js")).addSignCommand],
  ["verify", async () => (await import("./commands/verify-command.js")).addVerifyCommand],
  ["send", async () => (await import("./commands/send-command.js")).addSendCommand],
  ["replay", async () => (await import("./commands/replay-command.js")).addReplayCommand],
  ["check", async () => (await import("./commands/check/check-command.js")).addCheckCommand],
  ["doctor", async () => (await import("./commands/doctor/doctor-command.js")).addDoctorCommand],
  ["register", async () => (await import("./commands/register/register-command.js")).addRegisterCommand],
  ["inbox", async () => (await import("./commands/inbox/inbox-command.js")).addInboxCommand],
  ["emulator", async () => (await import("./commands/emulator/emulator-command.js")).addEmulatorCommand],
]);

/**
 * @param args the command line; the first word is the name of a command, `help`, an option, or a mistake
 * @param outcome is filled while the program runs
 */
export async function createProgram(cli: Cli, args: readonly string[], outcome: Outcome): Promise<Command> {
  const program = new Command("signalbox")
    .description("Signs, sends, verifies and replays the signed webhook events of a Product Intelligence service.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .configureOutput({
      writeOut: (text) => cli.terminal.print(text.replace(/\n$/, "")),
      // The message of Commander's error is printed instead, in one line.
      writeErr: () => undefined,
    })
    .addHelpText("after", EXAMPLES);
  const typed = COMMANDS.get(args[0] ?? "");
  for (const load of typed === undefined ? COMMANDS.values() : [typed]) (await load())(program, { cli, outcome });
  addHelpCommand(program);
  explainWrongUsage(program, outcome);
  return program;
}

function explainWrongUsage(command: Command, outcome: Outcome): void {
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    outcome.commandName = commandPath(command);
    throw usageError(wordsOf(error, command));
  });
  for (const subcommand of command.commands) explainWrongUsage(subcommand, outcome);
}

/** A message that says what is expected needs no example, which might show another option. */
const SAYS_WHAT_TO_TYPE = /Expected |It is blank|Allowed choices|Did you mean/;

function wordsOf(error: CommanderError, command: Command): string {
  const path = commandPath(command);
  if (error.code === "commander.help") {
    return `say what to do: ${namesOfCommands(command).join(", ")} (such as \`${firstExampleOf(command)}\`)`;
  }
  const words = error.message
    .replace(/^error: /, "")
    .replaceAll(/'([^']*)'/g, (_quoted, typed: string) => `'${echoed(typed)}'`)
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "");
  const help = `\`${byNpx(`${path} --help`)}\``;
  if (SAYS_WHAT_TO_TYPE.test(words)) return `${words}; see ${help}`;
  return `${words}; type for example \`${firstExampleOf(command)}\`, or ${help}`;
}

function readVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
