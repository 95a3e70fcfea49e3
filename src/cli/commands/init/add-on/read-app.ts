import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { usageError } from "../../../options/exit.js";
import { readCompilerOptions, type CompilerOptions } from "./read-tsconfig.js";

/** As much of a `package.json` as is asked for. */
export interface Manifest {
  type?: string;
  main?: string;
  packageManager?: string;
  scripts: Readonly<Record<string, string>>;
  /** All kinds of dependencies: name → range. */
  dependencies: Readonly<Record<string, string>>;
}

/** What was read of an app's folder; nothing is concluded from it yet. */
export interface AppFolder {
  /** Absolute. */
  directory: string;
  manifest: Manifest;
  /** `null` without a `tsconfig.json`. */
  compilerOptions: CompilerOptions | null;
  /** Its own sources, tests and builds left out: path from the folder, with `/` → text. */
  sources: ReadonlyMap<string, string>;
  /** The names of the lock files that apply, those of a workspace above it too, the nearest first. */
  lockFiles: readonly string[];
  /** Versions of what is installed, such as `5.1.0`; `null` for what is not. */
  installed: Readonly<Record<"express" | "typescript", string | null>>;
}

/** @throws CliError when there is no package */
export function readApp(appDir: string): AppFolder {
  const directory = resolve(appDir);
  const manifest = readManifest(directory, appDir);
  const compilerOptions = readCompilerOptions(join(directory, "tsconfig.json"));
  return {
    directory,
    manifest,
    compilerOptions,
    sources: readSources(directory, compilerOptions?.outDir),
    lockFiles: lockFilesFor(directory),
    installed: {
      express: installedVersion(directory, "express"),
      typescript: installedVersion(directory, "typescript"),
    },
  };
}

function readManifest(directory: string, typed: string): Manifest {
  let json: string;
  try {
    // A byte order mark is no JSON, and npm takes it all the same.
    json = readFileSync(join(directory, "package.json"), "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    const what = isMissing ? "there is no package.json" : "its package.json cannot be read";
    throw usageError(`${what} in ${typed}: name the folder of your Express app`);
  }
  const found = parseManifest(json, typed);
  const manifest = isObject(found) ? found : {};
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
    // Of Node's message the place alone: it may quote the file.
    const at = /at position (\d+)/.exec((error as SyntaxError).message)?.[1];
    const where = at === undefined ? "" : ` (line ${json.slice(0, Number(at)).split("\n").length})`;
    throw usageError(`the package.json in ${typed} is no JSON${where}: mend it, npm cannot read it either`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textsIn(group: unknown): Record<string, string> {
  const entries = isObject(group) ? Object.entries(group) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

const SOURCE = /\.[cm]?[jt]s$/;
const NO_SOURCE = /\.d\.[cm]?ts$|[.-](?:test|spec|config|check)\.[cm]?[jt]s$/;
const NO_FOLDER = new Set(
  "node_modules dist build out coverage public static test tests __tests__ __mocks__ spec e2e fixtures".split(" "),
);
/** An app has fewer; a folder that is no app should not keep anybody waiting. */
const MOST_FILES = 2000;
const LARGEST_BYTES = 512 * 1024;

function readSources(directory: string, outDir: string | undefined): Map<string, string> {
  const sources = new Map<string, string>();
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined && sources.size < MOST_FILES; folder = folders.shift()) {
    const entries = readdirSync(join(directory, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const isBuilt = outDir !== undefined && resolve(directory, path) === resolve(outDir);
      if (entry.isDirectory() && !entry.name.startsWith(".") && !NO_FOLDER.has(entry.name) && !isBuilt) {
        folders.push(path);
      } else if (entry.isFile() && isSource(entry.name)) {
        const file = join(directory, path);
        if (statSync(file).size <= LARGEST_BYTES) sources.set(path, readFileSync(file, "utf8"));
      }
    }
  }
  return sources;
}

/** Old starters have their start in `bin/www`, without an ending. */
function isSource(name: string): boolean {
  return name === "www" || (SOURCE.test(name) && !NO_SOURCE.test(name));
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
