import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Cli } from "../console/cli.js";
import type { Terminal } from "../console/terminal.js";
import { EXIT, type ExitCode } from "../console/exit.js";
import { printable } from "../console/printable.js";
import { cdCommand, shellQuote } from "../console/shell-quote.js";
import type { Choices } from "./choose.js";
import { PACKAGE_FOLDER } from "./package-folder.js";
import {
  callingPackageManager,
  HABITS,
  withCommandsOf,
  type PackageManager,
} from "./package-manager.js";
import { packedCopy, signalboxSpec } from "./signalbox-spec.js";
import type { Template } from "./templates.js";
import { writeFiles, type PlannedFile } from "./write-files.js";

export interface ProjectOptions {
  /** False with `--no-install`. */
  install: boolean;
  /** False with `--no-git`. */
  git: boolean;
  packageManager?: PackageManager;
  signalbox?: string;
  json?: true;
}

/**
 * Writes a project, installs the dependencies, makes a git repository with a first commit, and
 * prints the next steps.
 */
export async function makeProject(
  { template, directory, replace }: Choices,
  options: ProjectOptions,
  cli: Cli,
): Promise<ExitCode> {
  const { env, terminal } = cli;
  const packageManager = options.packageManager ?? callingPackageManager(env);
  const spec = signalboxSpec(options.signalbox, directory);
  const copy = spec.startsWith("file:")
    ? await packedCopy(sourceOf(options.signalbox, resolve(directory, spec.slice("file:".length))))
    : null;
  const signalbox = copy === null ? spec : `file:${copy.path}`;
  const { planProject } = await import("./plan-project.js");
  const project = planProject(template, {
    directory,
    packageManager,
    signalbox,
    hasCopy: copy !== null,
  });
  if (copy !== null) project.files.push(copy);
  // Existing files of this kind are kept, because they may hold the only copy of a secret. So is a
  // link, even if its target does not exist.
  const isKept = ({ path, isPrivate }: PlannedFile): boolean =>
    isPrivate === true && lstatSync(join(directory, path), { throwIfNoEntry: false }) !== undefined;
  const kept = project.files.filter(isKept);
  const files = project.files.filter((file) => !kept.includes(file));
  const replaced = writeFiles(directory, files, { replace });
  const { dim, red } = terminal.notePaint;
  if (!options.json) {
    terminal.note(dim(`wrote the ${files.length} files of the template ${template.name}`));
    if (replaced.length > 0) terminal.note(dim(`replaced ${replaced.join(", ")}`));
  }

  const isInWorkspace = hasWorkspaceAbove(directory);
  // In a workspace no repository is made: it would hide the project's files from the workspace's
  // repository.
  const hasRepository =
    options.git && !isInWorkspace && (await makeRepository(directory, options.json, cli));
  const installation = options.install ? await install(packageManager, directory, cli) : null;
  const isInstalled = installation === "ok";
  if (hasRepository) await commit(files, { directory, packageManager }, cli);
  const steps = nextSteps(
    template,
    directory,
    packageManager,
    isInstalled ? "npm test" : "npm install",
  );
  const notes = notesOn(copy, kept, isInWorkspace);
  if (options.json) {
    const paths = files.map(({ path }) => path);
    const what = {
      template: template.name,
      directory,
      name: project.name,
      packageManager,
      signalbox,
    };
    const { commands, ...others } = steps;
    const how = {
      git: hasRepository,
      installed: isInstalled,
      notes,
      nextSteps: commands,
      ...others,
    };
    terminal.printJson({ ...what, files: paths, replaced, ...how });
  } else {
    for (const note of notes) terminal.note(note);
    printSteps(steps, terminal);
  }
  if (installation === null || isInstalled) return EXIT.ok;
  const command = `${packageManager} install`;
  const failure =
    installation === "missing" ? `${packageManager} was not found` : `\`${command}\` failed`;
  const reason = cli.signal.aborted ? "interrupted" : failure;
  const state = `the files were written, but the dependencies were not installed: ${reason}`;
  terminal.note(red(`${state}; run \`${command}\` in ${printable(shellQuote(directory))}`));
  return EXIT.environment;
}

function nextSteps(
  { needs, alongside = [] }: Template,
  directory: string,
  packageManager: PackageManager,
  first: string,
) {
  const cd = cdCommand(directory);
  const translated = (command: string): string => withCommandsOf(packageManager, command);
  return {
    commands: [...(cd === null ? [] : [cd]), translated(first), translated("npm run dev")],
    /** A service that has to run first, and a command that starts it. */
    needs: needs ?? null,
    /**
     * Commands that run at the same time as the receiver, in the same folder, each in its own
     * terminal.
     */
    alongside: alongside.map(translated),
  };
}

function printSteps(
  { commands, needs, alongside }: ReturnType<typeof nextSteps>,
  terminal: Terminal,
): void {
  const print = (title: string, lines: readonly string[]): void => {
    terminal.print(terminal.paint.bold(title));
    for (const line of lines) terminal.print(`  $ ${printable(line)}`);
  };
  if (needs !== null) print(`Start ${needs.what} first, for example with:`, [needs.command]);
  print("Next:", commands);
  for (const command of alongside)
    print("At the same time, in the same folder, in another terminal:", [command]);
}

/**
 * A tarball from which the running signalbox was installed may be gone. Then that is packed as it
 * is installed.
 */
function sourceOf(given: string | undefined, path: string): string {
  return given === undefined && !existsSync(path) ? PACKAGE_FOLDER : path;
}

/** What the user has to know about this project, and cannot see in the list of written files. */
function notesOn(
  copy: PlannedFile | null,
  kept: readonly PlannedFile[],
  isInWorkspace: boolean,
): string[] {
  const notes = kept.map(({ path }) => `kept your ${path}`);
  if (isInWorkspace) {
    notes.push(
      "the project is inside a workspace: allow its install scripts in the root's package.json, and build its image with " +
        "the root's lock file",
    );
  }
  if (copy !== null) {
    notes.push(
      `package.json takes signalbox from ${copy.path}, which Docker and CI can read too; when it is in the npm registry, set its version there`,
    );
  }
  return notes;
}

/** Whether a folder above `directory` is the root of a workspace of npm, pnpm, yarn or bun. */
function hasWorkspaceAbove(directory: string): boolean {
  for (let folder = dirname(directory); ; folder = dirname(folder)) {
    if (
      existsSync(join(folder, "pnpm-workspace.yaml")) ||
      hasWorkspaces(join(folder, "package.json"))
    )
      return true;
    if (folder === dirname(folder)) return false;
  }
}

/**
 * False for a file that cannot be read, or is no JSON: a package manager cannot take it for the
 * root either.
 */
function hasWorkspaces(manifest: string): boolean {
  try {
    return "workspaces" in (JSON.parse(readFileSync(manifest, "utf8")) as object);
  } catch {
    return false;
  }
}

/** @returns whether the folder is now the top of a repository without a commit */
async function makeRepository(
  directory: string,
  json: true | undefined,
  cli: Cli,
): Promise<boolean> {
  const { terminal, signal } = cli;
  const git = (...args: string[]) => runTool("git", args, directory, cli);
  const outcome = await git("rev-parse", "--is-inside-work-tree");
  if (outcome === "ok") {
    const hasCommit = (await git("rev-parse", "--verify", "--quiet", "HEAD")) === "ok";
    return !hasCommit && existsSync(join(directory, ".git"));
  }
  const made = outcome === "missing" ? outcome : await git("init", "--quiet");
  if (made === "missing") terminal.note("no git repository was made: git was not found");
  if (made === "failed" && !signal.aborted)
    terminal.note("no git repository was made: `git init` failed");
  if (made === "ok" && json === undefined)
    terminal.note(terminal.notePaint.dim("made a git repository"));
  return made === "ok";
}

/**
 * Makes the first commit, of the new files and the lock file. Git ignores those that hold secrets.
 */
async function commit(
  files: readonly PlannedFile[],
  { directory, packageManager }: { directory: string; packageManager: PackageManager },
  cli: Cli,
): Promise<void> {
  const git = (...args: string[]) => runTool("git", args, directory, cli);
  const paths = files.filter(({ isPrivate }) => isPrivate !== true).map(({ path }) => path);
  const locks = HABITS[packageManager].lockFiles.filter((path) =>
    existsSync(join(directory, path)),
  );
  // Git may ignore *.tgz everywhere, and the copy of signalbox is one.
  await git("add", "--force", "--", ...paths, ...locks);
  const message = "Receiver made with signalbox init";
  // A signature could ask for a passphrase.
  const args = ["-c", "commit.gpgsign=false", "commit", "--quiet", "--message", message];
  const byUser = await git(...args);
  // Fails if git knows no name and address of the user. Then this commit, and no other, gets these.
  const nobody = ["-c", "user.name=signalbox init", "-c", "user.email=signalbox@localhost"];
  if (byUser !== "ok" && (await git(...nobody, ...args)) !== "ok" && !cli.signal.aborted) {
    cli.terminal.note("no commit was made: `git commit` failed");
  }
}

async function install(
  packageManager: PackageManager,
  directory: string,
  cli: Cli,
): Promise<ToolOutcome> {
  const text = `${packageManager} install: takes a minute or two if better-sqlite3 has to be compiled`;
  cli.terminal.note(cli.terminal.notePaint.dim(text));
  return runTool(packageManager, ["install"], directory, cli);
}

/** How a run of a program ended. `missing`: the program was not found. */
type ToolOutcome = "ok" | "failed" | "missing";

/**
 * Runs a program to its end. The program gets no stdin, so it cannot wait for input of the user.
 * What it prints is shown on stderr, but not that of git.
 */
function runTool(
  command: "git" | PackageManager,
  args: readonly string[],
  cwd: string,
  { env, signal }: Cli,
): Promise<ToolOutcome> {
  const output = command === "git" ? "ignore" : 2;
  const isWindows = process.platform === "win32";
  return new Promise((settle) => {
    // On Windows package managers are scripts, which need a shell. The shell is safe, because no
    // argument comes from the user.
    const child = spawn(command, args, {
      cwd,
      env,
      signal,
      stdio: ["ignore", output, output],
      shell: isWindows,
    });
    child.once("error", ({ code }: NodeJS.ErrnoException) =>
      settle(code === "ENOENT" ? "missing" : "failed"),
    );
    child.once("close", (exitCode) => settle(exitCode === 0 ? "ok" : "failed"));
  });
}
