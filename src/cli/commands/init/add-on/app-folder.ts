import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isJsonObject } from "../../../deliveries/restamp.js";
import { usageError } from "../../../options/exit.js";
import { sourceOf, stripComments, type Source } from "./find-places.js";

/** As much of a `package.json` as is used here. */
export interface Manifest {
  type?: string;
  main?: string;
  packageManager?: string;
  scripts: Readonly<Record<string, string>>;
  /** All kinds of dependencies: name → range. */
  dependencies: Readonly<Record<string, string>>;
}

/** What was read in an app's folder. Nothing is concluded from it yet. */
export interface AppFolder {
  /** Absolute. */
  directory: string;
  manifest: Manifest;
  /** `null` without a `tsconfig.json`. */
  compilerOptions: CompilerOptions | null;
  /** Its own sources, without tests and builds. */
  sources: readonly Source[];
  /** The names of the lock files that apply, the nearest first; a workspace above may have one too. */
  lockFiles: readonly string[];
  /** The version of the installed Express, such as `5.1.0`; `null` if none is installed. */
  installedExpress: string | null;
}

/** @throws CliError when there is no package */
export function readAppFolder(appDir: string): AppFolder {
  const directory = resolve(appDir);
  const manifest = readManifest(directory, appDir);
  const compilerOptions = readCompilerOptions(join(directory, "tsconfig.json"));
  return {
    directory,
    manifest,
    compilerOptions,
    sources: readSources(directory, compilerOptions?.outDir),
    lockFiles: lockFilesFor(directory),
    installedExpress: installedVersion(directory, "express"),
  };
}

function readManifest(directory: string, typed: string): Manifest {
  let json: string;
  try {
    // JSON has no byte order mark, but npm reads a file that begins with one.
    json = readFileSync(join(directory, "package.json"), "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    const what = isMissing ? "there is no package.json" : "its package.json cannot be read";
    throw usageError(`${what} in ${typed}: name the folder of your Express app`);
  }
  const found = parseManifest(json, typed);
  const manifest = isJsonObject(found) ? found : {};
  const text = (key: string): Partial<Record<string, string>> =>
    typeof manifest[key] === "string" ? { [key]: manifest[key] } : {};
  const kinds = ["peerDependencies", "optionalDependencies", "devDependencies", "dependencies"];
  return {
    ...text("type"),
    ...text("main"),
    ...text("packageManager"),
    scripts: textsIn(manifest["scripts"]),
    dependencies: Object.assign({}, ...kinds.map((kind) => textsIn(manifest[kind]))) as Record<string, string>,
  };
}

function parseManifest(json: string, typed: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // Only the position is taken from the message: the rest may quote the file.
    const at = /at position (\d+)/.exec((error as SyntaxError).message)?.[1];
    const where = at === undefined ? "" : ` (line ${json.slice(0, Number(at)).split("\n").length})`;
    throw usageError(`the package.json in ${typed} is no JSON${where}: fix it, npm cannot read it either`);
  }
}

function textsIn(group: unknown): Record<string, string> {
  const entries = isJsonObject(group) ? Object.entries(group) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

const SOURCE = /\.[cm]?[jt]s$/;
const NO_SOURCE = /\.d\.[cm]?ts$|[.-](?:test|spec|config|check)\.[cm]?[jt]s$/;
const NO_FOLDER = new Set(
  "node_modules dist build out coverage public static test tests __tests__ __mocks__ spec e2e fixtures".split(" "),
);
/** An app has fewer. A folder that is no app must not take long to read. */
const MOST_FILES = 2000;
const LARGEST_BYTES = 512 * 1024;

function readSources(directory: string, outDir: string | undefined): Source[] {
  const sources: Source[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined && sources.length < MOST_FILES; folder = folders.shift()) {
    const entries = readdirSync(join(directory, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const path = join(directory, file);
      const isBuilt = outDir !== undefined && path === resolve(outDir);
      if (entry.isDirectory() && !entry.name.startsWith(".") && !NO_FOLDER.has(entry.name) && !isBuilt) {
        folders.push(file);
      } else if (entry.isFile() && isSource(entry.name) && statSync(path).size <= LARGEST_BYTES) {
        sources.push(sourceOf(file, readFileSync(path, "utf8")));
      }
    }
  }
  return sources;
}

/** express-generator writes the start into `bin/www`, without an ending. */
function isSource(name: string): boolean {
  return name === "www" || (SOURCE.test(name) && !NO_SOURCE.test(name));
}

/** As much of a `tsconfig.json` as is used here. Names of modules are in lower case. */
interface CompilerOptions {
  module?: string;
  moduleResolution?: string;
  esModuleInterop?: boolean;
  allowImportingTsExtensions?: boolean;
  rewriteRelativeImportExtensions?: boolean;
  /** Absolute, as `outDir` is. */
  rootDir?: string;
  outDir?: string;
}

/** The options, with those of the files that it extends. `null` if there is no such file, or if it cannot be read. */
function readCompilerOptions(path: string, seen: readonly string[] = []): CompilerOptions | null {
  if (seen.includes(path)) return null;
  let config: unknown;
  try {
    config = JSON.parse(stripComments(readFileSync(path, "utf8")).replaceAll(/,(?=\s*[}\]])/g, ""));
  } catch {
    return null;
  }
  if (!isJsonObject(config)) return null;
  const names = [config["extends"]].flat().filter((base) => typeof base === "string");
  const bases = names.map((base) => readBase(base, path, [...seen, path]));
  const own: Record<string, unknown> = isJsonObject(config["compilerOptions"]) ? { ...config["compilerOptions"] } : {};
  for (const name of ["module", "moduleResolution"]) {
    if (typeof own[name] === "string") own[name] = own[name].toLowerCase();
  }
  for (const name of ["rootDir", "outDir"]) {
    if (typeof own[name] === "string") own[name] = resolve(dirname(path), own[name]);
  }
  return Object.assign({}, ...bases, own) as CompilerOptions;
}

function readBase(base: string, from: string, seen: readonly string[]): CompilerOptions | null {
  const withEnding = base.endsWith(".json") ? [base] : [`${base}.json`, `${base}/tsconfig.json`];
  const folders = base.startsWith(".") || isAbsolute(base) ? [dirname(from)] : modulesAbove(dirname(from));
  for (const folder of folders) {
    for (const name of withEnding) {
      const found = readCompilerOptions(resolve(folder, name), seen);
      if (found !== null) return found;
    }
  }
  return null;
}

function modulesAbove(folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, "node_modules"), ...(above === folder ? [] : modulesAbove(above))];
}

const LOCK_FILES = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];

function lockFilesFor(directory: string): string[] {
  const above = dirname(directory);
  const here = LOCK_FILES.filter((name) => existsSync(join(directory, name)));
  // A repository ends where its workspace does.
  const isTop = above === directory || existsSync(join(directory, ".git"));
  return isTop ? here : [...here, ...lockFilesFor(above)];
}

/** Found as Node finds it: in this folder or one above. */
function installedVersion(directory: string, name: string): string | null {
  try {
    const path = join(directory, "node_modules", name, "package.json");
    return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  } catch {
    const above = dirname(directory);
    return above === directory ? null : installedVersion(above, name);
  }
}
