import { readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

/** The folder of this package. The path is the same from `src` and from `dist`. */
const OWN_FOLDER = fileURLToPath(new URL("../../../../", import.meta.url)).replace(/[\\/]$/, "");

/**
 * The signalbox that a new project depends on: the one that runs this. `^VERSION`, as a rule. If it was installed from a
 * tarball or a folder, it may be in no registry, so the project takes it from there too.
 */
export function runningSignalbox(directory: string): string {
  const path = installedFrom(OWN_FOLDER);
  return path === null ? `^${versionOf(OWN_FOLDER)}` : fileSpec(path, directory);
}

/**
 * What `--signalbox` names: a path from the current folder, or anything else that a package manager takes for a version.
 *
 * @throws CliError when there is no such tarball or folder
 */
export function givenSignalbox(spec: string, directory: string): string {
  const path = /^(?:file:|(?=\.{0,2}[\\/]))(.*)$/.exec(spec)?.[1] ?? (isAbsolute(spec) ? spec : undefined);
  if (path === undefined) return spec;
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    throw usageError(`--signalbox ${echoed(spec)}: there is no such tarball or folder; give a version, such as ^1.0.0`);
  }
  return fileSpec(path, directory);
}

/** As npm writes it: relative to the project. */
function fileSpec(path: string, directory: string): string {
  return `file:${relative(directory, path).replaceAll("\\", "/")}`;
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

/**
 * The tarball or folder that an installed package came from, as npm noted it; `null` if it came from a registry, or if
 * npm noted nothing.
 */
export function installedFrom(folder: string): string | null {
  const modules = dirname(folder);
  // A link to a folder is resolved here, so it is not inside of `node_modules`.
  if (basename(modules) !== "node_modules") return folder;
  try {
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as {
      packages: Record<string, { resolved?: string } | undefined>;
    };
    const resolved = lock.packages[`node_modules/${basename(folder)}`]?.resolved;
    return resolved?.startsWith("file:") === true ? resolve(modules, "..", resolved.slice("file:".length)) : null;
  } catch {
    return null;
  }
}
