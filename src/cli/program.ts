import { readFileSync } from "node:fs";
import { Command, type CommanderError } from "commander";
import { addCheckCommand } from "./check/check-command.js";
import type { Cli, Outcome } from "./cli.js";
import { byNpx, commandPath, firstExampleOf } from "./define-command.js";
import { addDemoCommand } from "./demo/demo-command.js";
import { addDoctorCommand } from "./doctor/doctor-command.js";
import { addEmulatorCommand } from "./emulator/emulator-command.js";
import { EXIT, usageError } from "./exit.js";
import { addInboxCommand } from "./inbox/inbox-command.js";
import { addInitCommand } from "./init/init-command.js";
import { echoed } from "./printable.js";
import { addRegisterCommand } from "./register/register-command.js";
import { addReplayCommand } from "./replay-command.js";
import { addSendCommand } from "./send-command.js";
import { addSignCommand } from "./sign-command.js";
import { addVerifyCommand } from "./verify-command.js";

const EXAMPLES = `
Start here:
  $ npx signalbox demo                                                  see a receiver at work, no set-up
  $ npx signalbox init my-receiver                                      a new receiver of your own
  $ export SIGNALS_SECRET=…                                             the secret of your webhook
  $ npx signalbox send test --url http://localhost:3000/webhooks/signals
  $ npx signalbox replay --url http://localhost:3000/webhooks/signals   all fixtures, hostile ones too
  $ npx signalbox check http://localhost:3000/webhooks/signals          any receiver, against the service's document
  $ npx signalbox doctor --url http://localhost:3000/webhooks/signals   what is wrong with it, and the mend
  $ npx signalbox register --url https://… --all-types                  tell the service of it, keep the secrets
  $ npx signalbox inbox ls --db signals.db --state dead
  $ npx signalbox emulator                                              the service itself, on this machine

Secrets come from --secret, SIGNALS_SECRET or --secret-file.
Exit codes: 0 as expected, 1 a check failed, 2 wrong usage, 3 environment, 130 interrupted.`;

export function createProgram(cli: Cli): { program: Command; outcome: Outcome } {
  const outcome: Outcome = { exitCode: EXIT.ok, commandName: "signalbox" };
  const program = new Command("signalbox")
    .description("Signs, sends, verifies and replays the signed webhook events of a Product Intelligence service.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .configureOutput({
      writeOut: (text) => cli.terminal.print(text.replace(/\n$/, "")),
      // Commander's own words are taken out of its error and said in one line.
      writeErr: () => undefined,
    })
    .addHelpText("after", EXAMPLES);
  const add = { cli, outcome };
  addInitCommand(program, add);
  addDemoCommand(program, add);
  addSignCommand(program, add);
  addVerifyCommand(program, add);
  addSendCommand(program, add);
  addReplayCommand(program, add);
  addCheckCommand(program, add);
  addDoctorCommand(program, add);
  addRegisterCommand(program, add);
  addInboxCommand(program, add);
  addEmulatorCommand(program, add);
  explainWrongUsage(program, outcome);
  return { program, outcome };
}

function explainWrongUsage(command: Command, outcome: Outcome): void {
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    outcome.commandName = commandPath(command);
    throw usageError(wordsOf(error, command));
  });
  for (const subcommand of command.commands) explainWrongUsage(subcommand, outcome);
}

const TELLING = /Expected |It is blank|Allowed choices|Did you mean/;

function wordsOf(error: CommanderError, command: Command): string {
  const path = commandPath(command);
  if (error.code === "commander.help") {
    const names = command.commands.map((subcommand) => subcommand.name()).join(", ");
    return `say what to do: ${names} (such as \`${firstExampleOf(command)}\`)`;
  }
  const words = error.message
    .replace(/^error: /, "")
    .replaceAll(/'([^']*)'/g, (_quoted, typed: string) => `'${echoed(typed)}'`)
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "");
  const help = `\`${byNpx(`${path} --help`)}\``;
  // What says itself what it wants needs no example, which may show another option.
  if (TELLING.test(words)) return `${words}; see ${help}`;
  return `${words}; type for example \`${firstExampleOf(command)}\`, or ${help}`;
}

function readVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
