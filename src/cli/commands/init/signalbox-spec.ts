import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";
import { PACKAGE_FOLDER, packageVersion } from "../../package-folder.js";

/**
 * The signalbox that a new project depends on, as a value of `dependencies`. Without `--signalbox` the project depends on the
 * version of the running signalbox. If the running signalbox was installed from a tarball, a folder or a git address, a registry
 * might not have that version, so the project depends on the same source.
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
  const path = /^(?:file:|(?=\.{0,2}[\\/]))(.*)$/.exec(given)?.[1] ?? (isAbsolute(given) ? given : undefined);
  if (path === undefined) return given;
  if (!existsSync(path)) {
    throw usageError(
      `--signalbox ${echoed(given)}: there is no such tarball or folder; give a version, such as ^1.0.0`,
    );
  }
  return fileSpec(path, directory);
}

/** A path in the form that npm writes into `dependencies`: `file:` and the path relative to the project. */
function fileSpec(path: string, directory: string): string {
  return `file:${relative(directory, path).replaceAll("\\", "/")}`;
}

/** The tarball, folder or git address that npm installed a package from; `null` for a registry, or if npm kept no record of it. */
export function installedFrom(folder: string): string | null {
  const modules = dirname(folder);
  // If npm linked the package, `folder` is the real path of its source, which is not inside `node_modules`.
  if (basename(modules) !== "node_modules") return folder;
  try {
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as {
      packages: Record<string, { resolved?: string } | undefined>;
    };
    const resolved = lock.packages[`node_modules/${basename(folder)}`]?.resolved;
    if (resolved?.startsWith("git+") === true) return resolved;
    return resolved?.startsWith("file:") === true ? resolve(modules, "..", resolved.slice("file:".length)) : null;
  } catch {
    return null;
  }
}
