import { Command, CommanderError, type CommandUnknownOpts } from "#commander";
import type { Cli, Outcome } from "./console/cli.js";
import { byNpx, commandPath, type CommandContext } from "./console/define-command.js";
import examples from "./console/examples.json" with { type: "json" };
import { EXIT, usageError } from "./console/exit.js";
import { wrap } from "./console/terminal.js";
import { packageVersion } from "./init/signalbox-package.js";

const START = `
Start here:
  Show a receiver at work; needs no configuration:
    $ npx signalbox demo
  Send a signed event to a receiver on this machine:
    $ npx signalbox send sample --sender stripe --url http://localhost:3000/webhooks/stripe

Exit codes: 0 as expected, 1 a check failed, 2 wrong usage, 3 a file, port or service cannot be used, 130 interrupted.`;

const HELP_COLUMNS = 100;

type Load = () => Promise<{ addCommand: (program: Command, context: CommandContext) => void }>;

/**
 * The commands in the groups of the help. Only the typed command is loaded, because loading all
 * takes long. For the same reason a command's action itself imports what is large (`await import`),
 * so that the help of all commands does not wait for it.
 */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  Start: {
    init: () => import("./init/init-command.js"),
    dev: () => import("./service/dev/dev-command.js"),
    demo: () => import("./service/demo/demo-command.js"),
    completion: () => import("./console/completion.js"),
  },
  Try: {
    send: () => import("./deliveries/send-command.js"),
    sign: () => import("./deliveries/sign-command.js"),
    verify: () => import("./deliveries/verify-command.js"),
    replay: () => import("./deliveries/replay-command.js"),
  },
  Diagnose: {
    doctor: () => import("./probe/doctor/doctor-command.js"),
    check: () => import("./probe/check/check-command.js"),
    trace: () => import("./service/trace/trace-command.js"),
  },
  Inbox: {
    inbox: () => import("./inbox/inbox-command.js"),
  },
  Service: {
    emulator: () => import("./service/emulator/emulator-command.js"),
    register: () => import("./service/register/register-command.js"),
  },
};

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
      "Starts and tests receivers of webhooks (Stripe, GitHub and others), shows and retries the events in their inbox, and " +
        "runs the Product Intelligence service on this machine.",
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
      subcommandTerm: (command) => command.name(),
      subcommandDescription: (command) => command.description().replace(/[.:;] .*|\.$/s, ""),
    })
    .addHelpText("after", START);
  const all = Object.entries(COMMANDS).flatMap(([group, each]) =>
    Object.entries(each).map(([name, load]) => ({ group, name, load })),
  );
  // The script of `completion` has them all.
  const typed = all.filter(({ name }) => name === args[0] && name !== "completion");
  program.commandsGroup("Start:").helpCommand("help [command]", "print the help of a command");
  for (const { group, load } of typed.length > 0 ? typed : all) {
    program.commandsGroup(`${group}:`);
    (await load()).addCommand(program, { cli, outcome });
  }
  explainWrongUsage(program, outcome);
  return program;
}

const EXAMPLES = new Map(Object.entries(examples));

function addExamples(command: CommandUnknownOpts): void {
  const path = commandPath(command).replace("signalbox ", "");
  const lines = EXAMPLES.get(path)?.map(([line = "", what]) => `  ${what}:\n    $ ${byNpx(line)}`);
  if (lines !== undefined) command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

function explainWrongUsage(command: CommandUnknownOpts, outcome: Outcome): void {
  addExamples(command);
  command.exitOverride((error) => {
    const { exitCode, code, message } = error;
    if (exitCode === 0) throw error;
    // The name of a program alone asks what it can do.
    if (code === "commander.help" && command.args.length === 0) {
      command.outputHelp();
      throw new CommanderError(EXIT.ok, code, message);
    }
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
