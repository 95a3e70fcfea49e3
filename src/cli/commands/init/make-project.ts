import { spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Cli } from "../../console/cli.js";
import { EXIT, type ExitCode } from "../../options/exit.js";
import { printable } from "../../console/printable.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Choices } from "./choose.js";
import { callingPackageManager, type PackageManager } from "./package-manager.js";
import { planProject } from "./plan-project.js";
import { findWorkspace, nextSteps, notesOnProject, printSteps } from "./project-report.js";
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

/** Writes a project, makes a repository of it, installs its dependencies and prints the next steps. */
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
  // The secret in a user's .env may be in no other place. A link counts, also one to a file that does not exist yet.
  const hasOwn = lstatSync(join(directory, ".env"), { throwIfNoEntry: false }) !== undefined;
  const files = project.files.filter(({ path }) => path !== ".env" || !hasOwn);
  const replaced = writeFiles(directory, files, { replace });
  if (options.json === undefined) noteWritten(files.length, replaced, template, cli);

  const workspace = findWorkspace(directory);
  // Inside of a workspace, a repository of its own would hide the project from the workspace's repository.
  const hasRepository = options.git && workspace === null && (await makeRepository(directory, options.json, cli));
  const installation = options.install ? await install(packageManager, directory, cli) : null;
  const isInstalled = installation === "ok";
  const steps = nextSteps({ template, directory, packageManager, isInstalled });
  const notes = notesOnProject({ signalbox, keepsEnv: hasOwn, workspace });
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

/** Makes none inside of another repository. */
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
  terminal.note(terminal.notePaint.dim(`${packageManager} install: a minute or two where better-sqlite3 is compiled`));
  return runTool(packageManager, ["install"], { cwd: directory, env, signal, isShown: true });
}

function noteFailedInstall(outcome: ToolOutcome, packageManager: PackageManager, directory: string, cli: Cli): void {
  const { terminal, signal } = cli;
  const command = `${packageManager} install`;
  const failure = outcome === "missing" ? `there is no ${packageManager}` : `\`${command}\` failed`;
  const why = signal.aborted ? "interrupted" : failure;
  const what = `the files are written, the dependencies are not installed: ${why}`;
  terminal.note(terminal.notePaint.red(`${what}; run \`${command}\` in ${printable(shellQuote(directory))}`));
}

/** How a program ended; `missing`: there is no such program. */
type ToolOutcome = "ok" | "failed" | "missing";

interface ToolOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Whether its output is shown, on our stderr. */
  isShown: boolean;
}

/** Runs a program to its end. It has no stdin, so it cannot wait for an answer. */
function runTool(
  command: string,
  args: readonly string[],
  { cwd, env, signal, isShown }: ToolOptions,
): Promise<ToolOutcome> {
  const output = isShown ? 2 : "ignore";
  const isWindows = process.platform === "win32";
  return new Promise((resolve) => {
    // Package managers are scripts on Windows. No argument comes from the user.
    const child = spawn(command, args, { cwd, env, signal, stdio: ["ignore", output, output], shell: isWindows });
    child.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ENOENT" ? "missing" : "failed"));
    child.once("close", (exitCode) => resolve(exitCode === 0 ? "ok" : "failed"));
  });
}
