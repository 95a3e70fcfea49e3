import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

/** The folder of this package. The path is valid from `src` and from `dist`. */
const OWN_FOLDER = fileURLToPath(new URL("../../../../", import.meta.url)).replace(/[\\/]$/, "");

/**
 * The signalbox that a new project depends on, as a value of `dependencies`. Without `--signalbox` the project depends on the
 * version of the running signalbox. If the running signalbox was installed from a tarball or a folder, a registry might not
 * have that version, so the project depends on the same tarball or folder.
 *
 * @param given the value of `--signalbox`: a path or a version
 * @throws CliError when the given tarball or folder does not exist
 */
export function signalboxSpec(given: string | undefined, directory: string): string {
  if (given === undefined) {
    const source = installedFrom(OWN_FOLDER);
    return source === null ? `^${versionOf(OWN_FOLDER)}` : fileSpec(source, directory);
  }
  const path = /^(?:file:|(?=\.{0,2}[\\/]))(.*)$/.exec(given)?.[1] ?? (isAbsolute(given) ? given : undefined);
  if (path === undefined) return given;
  if (!existsSync(path)) {
    throw usageError(
      `--signalbox ${echoed(given)}: there is no such tarball or folder; give a version, such as ^1.0.0`,
    );
  }
  return fileSpec(path, directory);
}

/** npm's form of a path: relative to the project. */
function fileSpec(path: string, directory: string): string {
  return `file:${relative(directory, path).replaceAll("\\", "/")}`;
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

/** The tarball or folder that npm installed a package from; `null` for a registry, or if there is no record of npm. */
export function installedFrom(folder: string): string | null {
  const modules = dirname(folder);
  // If npm linked a folder, this is its real path, which is not inside `node_modules`.
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
