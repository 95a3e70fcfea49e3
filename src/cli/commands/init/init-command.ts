import { Option, type Command } from "commander";
import { runs, throwIfInterrupted, withExamples, type CommandContext } from "../../options/define-command.js";
import { usageError, type ExitCode } from "../../options/exit.js";
import { notBlank } from "../../options/parse-option.js";
import { formatTable } from "../../console/table.js";
import { addToApp } from "./add-to-app.js";
import { choose } from "./choose.js";
import { makeProject, type ProjectOptions } from "./make-project.js";
import { PACKAGE_MANAGERS } from "./package-manager.js";
import { TEMPLATES } from "./templates.js";

interface InitOptions extends ProjectOptions {
  template?: string;
  force?: true;
  into?: string;
}

export function addInitCommand(program: Command, context: CommandContext): void {
  const names = TEMPLATES.map(({ name }) => name);
  const command = program
    .command("init")
    .description(
      "Write a new receiver into a folder, install its dependencies and make a git repository. On a terminal it asks " +
        "for what is not given.",
    )
    .argument("[dir]", "the folder; it is made if it is not there")
    .addOption(
      new Option("--template <name>", `what to write (default if no question is asked: ${names[0]})`).choices(names),
    )
    .option("--force", "write into a folder that is not empty, and replace files of the same name; never a .env")
    .option("--into <folder>", "of an add-on: the folder for its files, inside the app's (default: signals)", notBlank)
    .option("--no-install", "do not install the dependencies")
    .option("--no-git", "do not make a git repository")
    .addOption(
      new Option("--package-manager <name>", "which one is used (default: the one that runs this, or npm)").choices(
        PACKAGE_MANAGERS,
      ),
    )
    .option(
      "--signalbox <spec>",
      "the version of signalbox that it depends on, or a tarball or folder (default: the one that runs this)",
      notBlank,
    )
    .option("--json", "print one JSON document that lists what was written, and ask nothing");
  const list = formatTable(TEMPLATES.map(({ name, description }) => [{ text: `  ${name}` }, { text: description }]));
  command.addHelpText("after", `\nTemplates:\n${list.join("\n")}`);
  withExamples(command, [
    ["npx signalbox init my-receiver", "A new receiver, by answering questions"],
    ["npx signalbox init my-receiver --template bullmq --package-manager pnpm", "The same without a question"],
    ["npx signalbox init . --template add-on", "For the Express app in this folder; none of its files is changed"],
    ["npx signalbox init . --force --no-install --no-git", "Into this folder, only the files"],
    ["npx signalbox init trial --signalbox ./signalbox-1.0.0.tgz", "With a signalbox that is in no registry"],
  ]);
  runs(command, context, (folder: string | undefined, options: InitOptions) => init(folder, options, context));
}

async function init(folder: string | undefined, options: InitOptions, { cli }: CommandContext): Promise<ExitCode> {
  const { template: wished, force = false, json = false } = options;
  const choices = await choose({ folder, template: wished, force, json }, cli);
  throwIfInterrupted(cli.signal);
  const { template } = choices;
  if (template.kind === "add-on") return addToApp(choices, options, cli);
  if (options.into !== undefined) throw usageError("--into goes with --template add-on");
  return makeProject({ ...choices, template }, options, cli);
}
