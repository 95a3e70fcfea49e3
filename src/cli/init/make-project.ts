import { existsSync, lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SenderName } from "../../kit/senders/records.js";
import type { Cli } from "../console/cli.js";
import { EXIT, type ExitCode } from "../console/exit.js";
import { printable, cdCommand, shellQuote } from "../console/terminal.js";
import type { Choices } from "./choose.js";
import { install } from "./install.js";
import {
  PACKAGE_FOLDER,
  callingPackageManager,
  withCommandsOf,
  type PackageManager,
  packedCopy,
  signalboxSpec,
} from "./signalbox-package.js";
import { POSTGRES, type Need, type Store } from "./templates.js";
import { writeFiles, type PlannedFile } from "./write-files.js";

interface ProjectOptions {
  sender?: SenderName;
  /** False with `--no-install`. */
  install: boolean;
  packageManager?: PackageManager;
  signalbox?: string;
  json?: true;
}

/** Writes a project, installs the dependencies, and prints the next commands. */
export async function makeProject(
  { template, store, directory, replace }: Choices,
  options: ProjectOptions,
  cli: Cli,
): Promise<ExitCode> {
  const { env, terminal } = cli;
  const { sender, json = false } = options;
  const packageManager = options.packageManager ?? callingPackageManager(env);
  const spec = signalboxSpec(options.signalbox, directory);
  const copy = spec.startsWith("file:")
    ? await packedCopy(sourceOf(options.signalbox, resolve(directory, spec.slice("file:".length))))
    : null;
  const signalbox = copy === null ? spec : `file:${copy.path}`;
  const { planProject } = await import("./plan-project.js");
  const hasCopy = copy !== null;
  const choices = { directory, store, sender, packageManager, signalbox, hasCopy };
  const project = planProject(template, choices);
  if (copy !== null) project.files.push(copy);
  // Existing files of this kind are kept, because they may hold the only copy of a secret. So is a
  // link, even if its target does not exist.
  const isKept = ({ path, isPrivate }: PlannedFile): boolean =>
    isPrivate === true && lstatSync(join(directory, path), { throwIfNoEntry: false }) !== undefined;
  const kept = project.files.filter(isKept);
  const written = project.files.filter((file) => !kept.includes(file));
  const replaced = writeFiles(directory, written, { replace });
  const { dim, red } = terminal.notePaint;
  if (!json) {
    terminal.note(dim(`wrote the ${written.length} files of the template ${template.name}`));
    if (replaced.length > 0) terminal.note(dim(`replaced ${replaced.join(", ")}`));
  }

  const failure = options.install ? await install(packageManager, directory, cli) : null;
  const installed = options.install && failure === null;
  const translated = (command: string): string => withCommandsOf(packageManager, command);
  const cd = cdCommand(directory) ?? [];
  const next = [installed ? "npm test" : "npm install", "npm run dev"].map(translated);
  const nextSteps = [cd, next].flat();
  const notes = kept.map(({ path }) => `kept your ${path}`);
  if (copy !== null) {
    notes.push(
      `package.json takes signalbox from ${copy.path}, which Docker and CI can read too; when it is in the npm registry, set its version there`,
    );
  }
  const needs = needsOf(template.needs, store);
  const alongside = template.alongside?.map(translated) ?? [];
  if (json) {
    const files = written.map(({ path }) => path);
    const made = { template: template.name, directory, name: project.name, packageManager };
    // No repository is made: `git` is of earlier versions.
    const how = { git: false, installed, notes, nextSteps, needs, alongside };
    terminal.printJson({ ...made, signalbox, files, replaced, ...how });
  } else {
    for (const note of notes) terminal.note(note);
    const print = (title: string, lines: readonly string[]): void => {
      terminal.print(terminal.paint.bold(title));
      for (const line of lines) terminal.print(`  $ ${printable(line)}`);
    };
    if (needs !== null) print(`Start ${needs.what} first, for example with:`, [needs.command]);
    print("Next:", nextSteps);
    for (const command of alongside)
      print("At the same time, in the same folder, in another terminal:", [command]);
  }
  if (failure === null) return EXIT.ok;
  const state = `the files were written, but the dependencies were not installed: ${failure}`;
  const where = printable(shellQuote(directory));
  terminal.note(red(`${state}; run \`${packageManager} install\` in ${where}`));
  return EXIT.environment;
}

/** A service that has to run first, and a command that starts it. */
function needsOf(needs: Need | undefined, store: Store): Need | null {
  if (store === "sqlite") return needs ?? null;
  if (needs === undefined) return POSTGRES;
  return {
    what: `${needs.what}, and ${POSTGRES.what},`,
    command: `${needs.command} && ${POSTGRES.command}`,
  };
}

/**
 * A tarball from which the running signalbox was installed may be gone. Then that is packed as it
 * is installed.
 */
function sourceOf(given: string | undefined, path: string): string {
  return given === undefined && !existsSync(path) ? PACKAGE_FOLDER : path;
}
