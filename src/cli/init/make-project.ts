import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Cli } from "../cli.js";
import { EXIT, type ExitCode } from "../exit.js";
import { printable } from "../printable.js";
import { shellQuote } from "../shell-quote.js";
import type { Choices } from "./choose.js";
import { nextSteps, type NextSteps } from "./next-steps.js";
import { callingPackageManager, type PackageManager } from "./package-manager.js";
import { planProject } from "./plan-project.js";
import { runTool, type ToolOutcome } from "./run-tool.js";
import { givenSignalbox, runningSignalbox } from "./signalbox-spec.js";
import type { ProjectTemplate } from "./templates.js";
import { writeFiles } from "./write-files.js";

export interface ProjectOptions {
  /** False with `--no-install`. */
  install: boolean;
  /** False with `--no-git`. */
  git: boolean;
  packageManager?: PackageManager;
  signalbox?: string;
  json?: true;
}

/** Writes a whole project, installs its dependencies, makes a repository of it and says how to go on. */
export async function makeProject(
  { template, directory, replace }: Choices & { template: ProjectTemplate },
  options: ProjectOptions,
  cli: Cli,
): Promise<ExitCode> {
  const { env, terminal } = cli;
  const packageManager = options.packageManager ?? callingPackageManager(env);
  const { signalbox: given } = options;
  const signalbox = given === undefined ? runningSignalbox(directory) : givenSignalbox(given, directory);
  const project = planProject(template, { directory, packageManager, signalbox });
  // A secret that somebody put there is in no other place. A link counts, also one that leads nowhere yet.
  const hasOwn = lstatSync(join(directory, ".env"), { throwIfNoEntry: false }) !== undefined;
  const files = project.files.filter(({ path }) => path !== ".env" || !hasOwn);
  const replaced = writeFiles(directory, files, { replace });
  if (options.json === undefined) noteWritten(files.length, replaced, template, cli);

  const hasRepository = options.git && (await makeRepository(directory, cli));
  const installation = options.install ? await install(packageManager, directory, cli) : null;
  const isInstalled = installation === "ok";
  const steps = nextSteps({ directory, packageManager, isInstalled });
  if (options.json) {
    const paths = files.map(({ path }) => path);
    const what = { template: template.name, directory, name: project.name, packageManager, signalbox };
    const how = { git: hasRepository, installed: isInstalled, nextSteps: steps.commands };
    terminal.printJson({ ...what, files: paths, replaced, ...how, inSecondTerminal: steps.inSecondTerminal });
  } else {
    if (signalbox.startsWith("file:")) noteFile(signalbox, cli);
    printSteps(steps, cli);
  }
  if (installation === null || isInstalled) return EXIT.ok;
  noteFailedInstall(installation, packageManager, directory, cli);
  return EXIT.environment;
}

function noteWritten(count: number, replaced: readonly string[], { name }: ProjectTemplate, { terminal }: Cli): void {
  const { dim } = terminal.notePaint;
  terminal.note(dim(`wrote the ${count} files of the template ${name}`));
  if (replaced.length > 0) terminal.note(dim(`replaced ${replaced.join(", ")}`));
}

/** Inside of a repository that is there already, none is made. */
async function makeRepository(directory: string, { env, terminal, signal }: Cli): Promise<boolean> {
  const how = { cwd: directory, env, signal, isShown: false };
  const outcome = await runTool("git", ["rev-parse", "--is-inside-work-tree"], how);
  if (outcome === "ok") return false;
  const made = outcome === "missing" ? outcome : await runTool("git", ["init", "--quiet"], how);
  if (made === "missing") terminal.note("no git repository was made: there is no git");
  if (made === "failed" && !signal.aborted) terminal.note("no git repository was made: `git init` failed");
  return made === "ok";
}

async function install(packageManager: PackageManager, directory: string, cli: Cli): Promise<ToolOutcome> {
  const { env, terminal, signal } = cli;
  terminal.note(terminal.notePaint.dim(`${packageManager} install: a minute or two where better-sqlite3 is compiled`));
  return runTool(packageManager, ["install"], { cwd: directory, env, signal, isShown: true });
}

function noteFailedInstall(outcome: ToolOutcome, packageManager: PackageManager, directory: string, cli: Cli): void {
  const { terminal, signal } = cli;
  const command = `${packageManager} install`;
  const failure = outcome === "missing" ? `there is no ${packageManager}` : `\`${command}\` failed`;
  const why = signal.aborted ? "interrupted" : failure;
  const what = `the files are written, the dependencies are not installed: ${why}`;
  terminal.note(terminal.notePaint.red(`${what}; run \`${command}\` in ${shellQuote(directory)}`));
}

function noteFile(signalbox: string, { terminal }: Cli): void {
  const path = printable(signalbox.slice("file:".length));
  terminal.note(
    `package.json takes signalbox from ${path}; a Docker build cannot, so give a version before you make one`,
  );
}

function printSteps({ commands, inSecondTerminal }: NextSteps, { terminal }: Cli): void {
  const { bold } = terminal.paint;
  terminal.print(bold("Next:"));
  for (const command of commands) terminal.print(`  ${command}`);
  terminal.print(bold("While it runs, in the same folder of a second terminal:"));
  terminal.print(`  ${inSecondTerminal}`);
}
