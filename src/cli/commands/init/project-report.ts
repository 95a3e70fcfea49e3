import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { printable } from "../../console/printable.js";
import { cdCommand } from "../../console/shell-quote.js";
import type { Terminal } from "../../console/terminal.js";
import { withCommandsOf, type PackageManager } from "./package-manager.js";
import type { ProjectTemplate } from "./templates.js";

export interface Made {
  template: Pick<ProjectTemplate, "needs" | "alongside">;
  /** Absolute. */
  directory: string;
  packageManager: PackageManager;
  isInstalled: boolean;
}

export type NextSteps = ReturnType<typeof nextSteps>;

export function nextSteps({ template, directory, packageManager, isInstalled }: Made) {
  const cd = cdCommand(directory);
  const say = (command: string): string => withCommandsOf(packageManager, command);
  return {
    /** To type one after the other. */
    commands: [
      ...(cd === null ? [] : [cd]),
      ...(isInstalled ? [] : [say("npm install")]),
      say("npm test"),
      // Yarn 2 and later run no `prestart`.
      ...(packageManager === "yarn" ? [say("npm run build")] : []),
      say("npm start"),
    ],
    /** What has to run first, and a command for that. */
    needs: template.needs ?? null,
    /** Commands that run beside the receiver, from the same folder, each in its own terminal. */
    alongside: (template.alongside ?? []).map(say),
    /** A command to run while the receiver runs. */
    inSecondTerminal: say("npm run replay"),
  };
}

/** Prints what to type, and in which terminal. */
export function printSteps({ commands, needs, alongside, inSecondTerminal }: NextSteps, terminal: Terminal): void {
  const { bold } = terminal.paint;
  if (needs !== null) {
    terminal.print(bold(`It needs ${needs.what}, such as:`));
    terminal.print(`  ${needs.command}`);
  }
  terminal.print(bold("Next:"));
  for (const command of commands) terminal.print(`  ${printable(command)}`);
  for (const command of alongside) {
    terminal.print(bold("Beside it, in the same folder, in another terminal:"));
    terminal.print(`  ${command}`);
  }
  terminal.print(
    bold(`While it runs, in the same folder of a ${alongside.length === 0 ? "second" : "third"} terminal:`),
  );
  terminal.print(`  ${inSecondTerminal}`);
}

/** What the notes depend on. */
interface Circumstances {
  /** The value of `signalbox` in `dependencies`. */
  signalbox: string;
  /** The user's `.env` was left as it is. */
  keepsEnv: boolean;
  /** The root of the workspace that the folder is in. */
  workspace: string | null;
}

/** What the user has to know and cannot see in the list of files. */
export function notesOnProject({ signalbox, keepsEnv, workspace }: Circumstances): string[] {
  const notes: string[] = [];
  if (keepsEnv) notes.push("kept your .env; .env.example lists what it needs");
  if (workspace !== null) {
    notes.push(
      `it is inside of the workspace ${printable(workspace)}: there the root's package.json says which install scripts ` +
        "may run, and the lock file that the Dockerfile copies is the root's",
    );
  }
  if (signalbox.startsWith("file:")) {
    const path = printable(signalbox.slice("file:".length));
    notes.push(
      `package.json takes signalbox from ${path}; a Docker build cannot, so give a version before you make one`,
    );
  }
  return notes;
}

/** The folder above that is the root of a workspace of npm, pnpm, yarn or bun; `null` where there is none. */
export function findWorkspace(directory: string): string | null {
  for (let folder = dirname(directory); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "pnpm-workspace.yaml")) || hasWorkspaces(join(folder, "package.json"))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function hasWorkspaces(path: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof manifest === "object" && manifest !== null && "workspaces" in manifest;
  } catch {
    // There is none, or a package manager could not read it either.
    return false;
  }
}
