import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Cli } from "../../console/cli.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Choices } from "./choose.js";
import { findWorkspace } from "./find-workspace.js";
import { nextSteps } from "./next-steps.js";
import { notesOnProject } from "./notes-on-project.js";
import { callingPackageManager, HOW_TO_GET, isInstalledOn, type PackageManager } from "./package-manager.js";
import { planProject } from "./plan-project.js";
import { printSteps } from "./print-steps.js";
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

  const workspace = findWorkspace(directory);
  // A repository in the middle of somebody's workspace would be in the way of theirs.
  const hasRepository = options.git && workspace === null && (await makeRepository(directory, options.json, cli));
  const installation = options.install ? await install(packageManager, directory, cli) : null;
  const isInstalled = installation === "ok";
  const steps = nextSteps({ template, directory, packageManager, isInstalled });
  const notes = notesOnProject({ directory, signalbox, keepsEnv: hasOwn, workspace });
  if (options.json) {
    const paths = files.map(({ path }) => path);
    const what = { template: template.name, directory, name: project.name, packageManager, signalbox };
    const { commands, ...others } = steps;
    const how = { git: hasRepository, installed: isInstalled, notes, nextSteps: commands, ...others };
    terminal.printJson({ ...what, files: paths, replaced, ...how });
  } else {
    for (const note of notes) terminal.note(note);
    printSteps(steps, terminal);
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
async function makeRepository(directory: string, json: true | undefined, cli: Cli): Promise<boolean> {
  const { env, terminal, signal } = cli;
  const how = { cwd: directory, env, signal, isShown: false };
  const outcome = await runTool("git", ["rev-parse", "--is-inside-work-tree"], how);
  if (outcome === "ok") return false;
  const made = outcome === "missing" ? outcome : await runTool("git", ["init", "--quiet"], how);
  if (made === "missing") terminal.note("no git repository was made: there is no git");
  if (made === "failed" && !signal.aborted) terminal.note("no git repository was made: `git init` failed");
  if (made === "ok" && json === undefined) terminal.note(terminal.notePaint.dim("made a git repository"));
  return made === "ok";
}

async function install(packageManager: PackageManager, directory: string, cli: Cli): Promise<ToolOutcome> {
  const { env, terminal, signal } = cli;
  if (!isInstalledOn(packageManager, env)) return "missing";
  terminal.note(terminal.notePaint.dim(`${packageManager} install: a minute or two where better-sqlite3 is compiled`));
  return runTool(packageManager, ["install"], { cwd: directory, env, signal, isShown: true });
}

function noteFailedInstall(outcome: ToolOutcome, packageManager: PackageManager, directory: string, cli: Cli): void {
  const { terminal, signal } = cli;
  const command = `${packageManager} install`;
  const missing = `there is no ${packageManager} (${HOW_TO_GET[packageManager]})`;
  const failure = outcome === "missing" ? missing : `\`${command}\` failed`;
  const why = signal.aborted ? "interrupted" : failure;
  const what = `the files are written, the dependencies are not installed: ${why}`;
  terminal.note(terminal.notePaint.red(`${what}; run \`${command}\` in ${printable(shellQuote(directory))}`));
}
