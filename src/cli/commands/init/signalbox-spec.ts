import { readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

/** This package, wherever it is installed; the same way up from `src` and from `dist`. */
const OWN_FOLDER = fileURLToPath(new URL("../../../../", import.meta.url)).replace(/[\\/]$/, "");

/**
 * What a new project writes into `dependencies` for signalbox: the very one that runs. `^VERSION`, as a rule. One that
 * was installed from a tarball or a folder may be in no registry, so the project takes it from there too.
 */
export function runningSignalbox(directory: string): string {
  const path = installedFrom(OWN_FOLDER);
  return path === null ? `^${versionOf(OWN_FOLDER)}` : fileSpec(path, directory);
}

const VERSION = String.raw`(?:[~^=]|[<>]=?)?\s*v?(?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2}(?:[-+][\w.+-]+)?`;
/** As npm reads it: comparators, hyphens, `||`. */
const RANGE = new RegExp(String.raw`^${VERSION}(?:(?:\s+|\s+-\s+|\s*\|\|\s*)${VERSION})*$`);
const TAG = /^[A-Za-z][\w.-]*$/;
/** `workspace:*`, `npm:@scope/fork@1`, `https://…/signalbox.tgz`, `git+ssh://…` */
const ELSEWHERE = /^(?:workspace|npm|catalog|https?|git(?:\+\w+)?|github|gitlab|bitbucket):\S+$/;

/**
 * What `--signalbox` names: a range, or a path from where it was typed.
 *
 * @throws CliError when there is no such tarball or folder, or it can be nothing of all this
 */
export function givenSignalbox(spec: string, directory: string): string {
  const path = /^(?:file:|(?=\.{0,2}[\\/]))(.*)$/.exec(spec)?.[1] ?? (isAbsolute(spec) ? spec : undefined);
  if (path === undefined) {
    if (RANGE.test(spec) || TAG.test(spec) || ELSEWHERE.test(spec)) return spec;
    throw usageError(
      `--signalbox ${echoed(spec)} is no version, range, tag, tarball or folder; give one such as ^1.0.0, next or ./signalbox.tgz`,
    );
  }
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
 * The tarball or folder that an installed package came from, as npm noted it; `null` for one that came from a registry,
 * and where nothing is noted.
 */
export function installedFrom(folder: string): string | null {
  const modules = dirname(folder);
  // A link to a folder is resolved by now: it leads out of `node_modules`.
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
