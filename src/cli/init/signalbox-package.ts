import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, basename, isAbsolute, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { environmentError, errorCode, usageError } from "../console/exit.js";
import { echoed } from "../console/terminal.js";
import type { PlannedFile } from "./write-files.js";

/** The folder of this package. The relative path is the same from `src/cli` and from `dist/cli`. */
export const PACKAGE_FOLDER = dirname(
  fileURLToPath(new URL("../../../package.json", import.meta.url)),
);

export function packageVersion(): string {
  return (
    JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8")) as { version: string }
  ).version;
}

/** The folder of a project for its copy of signalbox. */
const VENDOR = "vendor";

/**
 * The signalbox that a new project depends on, as a value of `dependencies`. Without `--signalbox`
 * the project depends on the version of the running signalbox. If the running signalbox was
 * installed from a tarball, a folder or a git address, a registry might not have that version, so
 * the project depends on the same source.
 *
 * @param given the value of `--signalbox`: a path or a version
 * @throws CliError when the given tarball or folder does not exist
 */
export function signalboxSpec(given: string | undefined, directory: string): string {
  if (given === undefined) {
    const source = installedFrom(PACKAGE_FOLDER);
    if (source === null) return `^${packageVersion()}`;
    return source.startsWith("git+") ? source : fileSpec(source, directory);
  }
  const path =
    /^(?:file:|(?=\.{0,2}[\\/]))(.*)$/.exec(given)?.[1] ?? (isAbsolute(given) ? given : undefined);
  if (path === undefined) return given;
  if (!existsSync(path)) {
    throw usageError(
      `--signalbox ${echoed(given)}: there is no such tarball or folder; give a version, such as ^1.0.0`,
    );
  }
  return fileSpec(path, directory);
}

/**
 * A path in the form that npm writes into `dependencies`: `file:` and the path relative to the
 * project.
 */
function fileSpec(path: string, directory: string): string {
  return `file:${relative(directory, path).replaceAll("\\", "/")}`;
}

/**
 * A packed copy of the signalbox in a tarball or a folder, for the project's own folder, so that
 * Docker and CI can install it too.
 *
 * @throws CliError when npm cannot pack the folder
 */
export async function packedCopy(path: string): Promise<PlannedFile> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return copyOf(path);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-pack-"));
  try {
    // Its scripts would build it anew, and this signalbox runs.
    const args = ["pack", "--ignore-scripts", "--silent"];
    // On Windows npm is a script, which needs a shell. So no argument is a path, which may hold a
    // blank.
    const env = { ...process.env, npm_config_pack_destination: folder };
    await promisify(execFile)("npm", args, { cwd: path, env, shell: process.platform === "win32" });
    const [name = ""] = readdirSync(folder);
    return copyOf(join(folder, name));
  } catch (error) {
    throw environmentError(
      `cannot pack ${echoed(path)} with npm (${errorCode(error)}); give --signalbox a tarball or a version`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The hash is in its name, because a lock file keeps the one of a name: another build must have
 * another name.
 */
function copyOf(path: string): PlannedFile {
  const content = readFileSync(path);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 8);
  return { path: `${VENDOR}/${basename(path, ".tgz")}-${hash}.tgz`, content };
}

/**
 * The tarball, folder or git address that npm installed a package from; `null` for a registry, or
 * if npm kept no record of it.
 */
export function installedFrom(folder: string): string | null {
  const modules = dirname(folder);
  // If npm linked the package, `folder` is the real path of its source, which is not inside
  // `node_modules`.
  if (basename(modules) !== "node_modules") return folder;
  try {
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as {
      packages: Record<string, { resolved?: string } | undefined>;
    };
    const resolved = lock.packages[`node_modules/${basename(folder)}`]?.resolved;
    if (resolved?.startsWith("git+") === true) return resolved;
    return resolved?.startsWith("file:") === true
      ? resolve(modules, "..", resolved.slice("file:".length))
      : null;
  } catch {
    return null;
  }
}

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

interface Habits {
  /** What to type before a command of an installed package to run it. */
  exec: string;
  /** What to type before the name of a package to add it to a project. */
  add: string;
  lockFiles: readonly string[];
}

export const HABITS: Readonly<Record<PackageManager, Habits>> = {
  npm: { exec: "npx", add: "npm install", lockFiles: ["package-lock.json"] },
  pnpm: { exec: "pnpm exec", add: "pnpm add", lockFiles: ["pnpm-lock.yaml"] },
  yarn: { exec: "yarn", add: "yarn add", lockFiles: ["yarn.lock"] },
  bun: { exec: "bunx", add: "bun add", lockFiles: ["bun.lock", "bun.lockb"] },
};

/**
 * The package manager that runs this process, read from its user agent (`pnpm/10.4.0 npm/?
 * node/v22.1.0 linux x64`).
 */
export function callingPackageManager(env: NodeJS.ProcessEnv): PackageManager {
  const [name] = (env["npm_config_user_agent"] ?? "").split("/");
  return PACKAGE_MANAGERS.find((known) => known === name) ?? "npm";
}

/** Translates the commands of npm in a text. */
export function withCommandsOf(packageManager: PackageManager, text: string): string {
  if (packageManager === "npm") return text;
  return (
    text
      .replaceAll("npx signalbox", `${HABITS[packageManager].exec} signalbox`)
      // With `run`, because `bun test` would start Bun's own test runner instead of the script
      // `test`.
      .replaceAll(/\bnpm (test|start)\b/g, `${packageManager} run $1`)
      .replaceAll(/\bnpm (run \w+) -- /g, `${packageManager} $1 `)
      .replaceAll(/\bnpm (run|install)\b(?! --global)/g, `${packageManager} $1`)
  );
}
