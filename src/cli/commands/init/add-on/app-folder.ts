import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { isJsonObject } from "../../../deliveries/restamp.js";
import { usageError } from "../../../options/exit.js";
import { sourceOf, stripComments, type Source } from "./find-places.js";

/** What was read in an app's folder. Nothing is concluded from it yet. */
export interface AppFolder {
  /** Absolute. */
  directory: string;
  manifest: Manifest;
  /** `null` without a `tsconfig.json`. */
  compilerOptions: CompilerOptions | null;
  /** Its own sources, without tests and builds. */
  sources: readonly Source[];
  /** The name of the nearest lock file; that of a workspace counts. */
  lockFile: string | null;
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
    lockFile: lockFileFor(directory),
    installedExpress: installedExpress(directory),
  };
}

const text = z.string().optional().catch(undefined);
const texts = z.record(z.string(), z.string().catch("")).catch({});

/** As much of a `package.json` as is used here. What is not as npm has it counts as absent. */
const manifestSchema = z
  .object({
    type: text,
    main: text,
    packageManager: text,
    scripts: texts,
    peerDependencies: texts,
    optionalDependencies: texts,
    devDependencies: texts,
    dependencies: texts,
  })
  .transform(({ peerDependencies, optionalDependencies, devDependencies, dependencies, ...others }) => ({
    ...others,
    /** All kinds of them: name → range. */
    dependencies: { ...peerDependencies, ...optionalDependencies, ...devDependencies, ...dependencies },
  }));

export type Manifest = z.output<typeof manifestSchema>;

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
  try {
    const manifest: unknown = JSON.parse(json);
    return manifestSchema.parse(isJsonObject(manifest) ? manifest : {});
  } catch (error) {
    // Only the position is taken from the message: the rest may quote the file.
    const at = /at position (\d+)/.exec((error as SyntaxError).message)?.[1];
    const where = at === undefined ? "" : ` (line ${json.slice(0, Number(at)).split("\n").length})`;
    throw usageError(`the package.json in ${typed} is no JSON${where}: fix it, npm cannot read it either`);
  }
}

/** As much of a `tsconfig.json` as is used here. */
interface CompilerOptions {
  /** In lower case. */
  module?: string;
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
  if (typeof own["module"] === "string") own["module"] = own["module"].toLowerCase();
  for (const name of ["rootDir", "outDir"]) {
    if (typeof own[name] === "string") own[name] = resolve(dirname(path), own[name]);
  }
  return Object.assign({}, ...bases, own) as CompilerOptions;
}

/** A file that a `tsconfig.json` extends: a path, or a name in a package. The ending may be left out. */
function readBase(base: string, from: string, seen: readonly string[]): CompilerOptions | null {
  for (const name of [base, `${base}.json`, `${base}/tsconfig.json`]) {
    try {
      const found = readCompilerOptions(createRequire(from).resolve(name), seen);
      if (found !== null) return found;
    } catch {
      // There is no such file.
    }
  }
  return null;
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

const LOCK_FILES = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];

function lockFileFor(directory: string): string | null {
  const name = LOCK_FILES.find((each) => existsSync(join(directory, each)));
  if (name !== undefined) return name;
  // A repository ends where its workspace does.
  const isTop = dirname(directory) === directory || existsSync(join(directory, ".git"));
  return isTop ? null : lockFileFor(dirname(directory));
}

function installedExpress(directory: string): string | null {
  try {
    const path = createRequire(join(directory, "package.json")).resolve("express/package.json");
    return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  } catch {
    return null;
  }
}
