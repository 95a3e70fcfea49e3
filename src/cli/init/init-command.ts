import { Option, type Command } from "#commander";
import { SENDER_NAMES } from "../../kit/senders/records.js";
import type { Cli } from "../console/cli.js";
import { runs, type CommandContext, type OptionsOf } from "../console/define-command.js";
import { EXIT, usageError, type ExitCode } from "../console/exit.js";
import { notEmpty } from "../console/options.js";
import { shellQuote, formatTable } from "../console/terminal.js";
import { choose, type Choices } from "./choose.js";
import { makeProject } from "./make-project.js";
import { PACKAGE_MANAGERS, signalboxSpec } from "./signalbox-package.js";
import { isAddOn, STORES, TEMPLATES } from "./templates.js";
import { writeFiles } from "./write-files.js";

export function addCommand(program: Command, context: CommandContext) {
  const names = TEMPLATES.map(({ name }) => name);
  const command = program
    .command("init")
    .description(
      "Write a new receiver into a folder; install its dependencies. On a terminal it asks for missing values.",
    )
    .argument("[dir]", "the folder; created if it does not exist")
    .addOption(
      new Option(
        "--template <name>",
        `the template (default if no question is asked: ${names[0]})`,
      ).choices(names),
    )
    .addOption(
      new Option("--store <name>", "where the receiver keeps its inbox (default: sqlite)").choices(
        STORES,
      ),
    )
    .addOption(
      new Option(
        "--sender <name>",
        "receive its webhooks in place of signals; with any template but bullmq",
      ).choices(SENDER_NAMES),
    )
    .option(
      "--force",
      "write into a folder that is not empty, and replace files of the same name, except .env",
    )
    .option(
      "--into <folder>",
      "with --template add-on: where in the app to put the files (default: signals, or the sender's name)",
      notEmpty,
    )
    .option("--no-install", "do not install the dependencies")
    // Of earlier versions, which made a repository.
    .addOption(new Option("--no-git").hideHelp())
    .addOption(
      new Option(
        "--package-manager <name>",
        "the package manager (default: the one that runs this command, or npm)",
      ).choices(PACKAGE_MANAGERS),
    )
    .option(
      "--signalbox <spec>",
      "the signalbox to depend on: a version, a tarball or a folder (default: the signalbox that runs this command)",
      notEmpty,
    )
    .option("--json", "print one JSON document that lists the written files, and ask no questions");
  const list = formatTable(TEMPLATES.map(({ name, description }) => [`  ${name}`, description]));
  command.addHelpText("after", `\nTemplates:\n${list.join("\n")}`);
  runs(command, context, init);
  return command;
}

type InitOptions = OptionsOf<typeof addCommand>;

async function init(
  folder: string | undefined,
  given: InitOptions,
  { cli }: CommandContext,
): Promise<ExitCode> {
  const choices = await choose({ ...given, folder }, cli);
  cli.signal.throwIfAborted();
  const { template, sender } = choices;
  const options = { ...given, ...(sender && { sender }) };
  if (options.sender !== undefined && template.signalsOnly)
    throw usageError(`--sender does not work with --template ${template.name}`);
  if (isAddOn(template.name)) return addToApp(choices, options, cli);
  if (options.into !== undefined) throw usageError("--into needs --template add-on");
  return makeProject(choices, options, cli);
}

async function addToApp(
  { template, store, directory, replace }: Choices,
  { sender, into, packageManager, signalbox, json }: InitOptions,
  { terminal }: Cli,
): Promise<ExitCode> {
  const { planAddOn } = await import("./add-on/plan-add-on.js");
  const spec = signalboxSpec(signalbox, directory);
  // If this signalbox came from a registry, and --signalbox is not given, the printed install
  // command needs only the name.
  const isDefault = signalbox === undefined && !spec.startsWith("file:");
  const install = isDefault
    ? "signalbox"
    : shellQuote(spec.startsWith("file:") ? spec : `signalbox@${spec}`);
  const options = { store, sender, into, force: replace, packageManager, signalbox: install };
  const plan = planAddOn(directory, options);
  const replaced = writeFiles(directory, plan.files, { replace });
  const files = plan.files.map(({ path }) => path);
  if (json) terminal.printJson({ template: template.name, directory, ...plan, files, replaced });
  else {
    terminal.note(
      terminal.notePaint.dim(`wrote ${files.join(", ")}; your own files were not changed`),
    );
    for (const line of plan.nextSteps) terminal.print(line);
  }
  return EXIT.ok;
}
