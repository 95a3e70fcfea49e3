import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { usageError } from "../../../options/exit.js";
import { PACKAGE_MANAGERS, type PackageManager } from "../package-manager.js";
import { sourceOf, type Source } from "./find-places.js";

/** What was read in an app's folder. Nothing is concluded from it yet. */
export interface AppFolder {
  /** Absolute. */
  directory: string;
  manifest: Manifest;
  /** Its own sources, without tests and builds. Those nearest to the top come first. */
  sources: readonly Source[];
  /** The one whose lock file is nearest; that of a workspace counts. */
  packageManager: PackageManager;
}

/** @throws CliError when there is no package */
export function readAppFolder(appDir: string): AppFolder {
  const directory = resolve(appDir);
  return {
    directory,
    manifest: readManifest(directory, appDir),
    sources: readSources(directory),
    packageManager: packageManagerOf(directory),
  };
}

const texts = z.record(z.string(), z.string().catch("")).catch({});

/** As much of a `package.json` as is used here. What is not as npm has it counts as absent. */
const manifestSchema = z
  .object({
    type: z.string().optional().catch(undefined),
    scripts: texts,
    dependencies: texts,
    devDependencies: texts,
  })
  .transform(({ type, scripts, dependencies, devDependencies }) => ({
    type,
    scripts,
    /** Both kinds of them: name → range. */
    dependencies: { ...devDependencies, ...dependencies },
  }));

export type Manifest = z.output<typeof manifestSchema>;

function readManifest(directory: string, typed: string): Manifest {
  const path = join(directory, "package.json");
  if (!existsSync(path)) throw usageError(`there is no package.json in ${typed}: name the folder of your Express app`);
  try {
    // JSON has no byte order mark, but npm reads a file that begins with one.
    return manifestSchema.parse(JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, "")));
  } catch {
    // The message of the error may quote the file.
    throw usageError(`the package.json in ${typed} cannot be read as JSON: fix it, npm cannot read it either`);
  }
}

const SOURCE = /\.[cm]?[jt]s$/;
const NO_SOURCE = /\.d\.[cm]?ts$|[.-](?:test|spec|config|check)\.[cm]?[jt]s$/;
const NO_FOLDER = new Set(
  "node_modules dist build out coverage public static test tests __tests__ __mocks__ spec e2e fixtures".split(" "),
);
/** An app has fewer. A folder that is no app must not take long to read. */
const MOST_FILES = 2000;
const LARGEST_BYTES = 512 * 1024;

function readSources(directory: string): Source[] {
  const sources: Source[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined && sources.length < MOST_FILES; folder = folders.shift()) {
    const entries = readdirSync(join(directory, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const path = join(directory, file);
      if (entry.isDirectory() && !entry.name.startsWith(".") && !NO_FOLDER.has(entry.name)) {
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

const LOCK_FILES: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ["package-lock.json"],
  pnpm: ["pnpm-lock.yaml"],
  yarn: ["yarn.lock"],
  bun: ["bun.lock", "bun.lockb"],
};

function packageManagerOf(directory: string): PackageManager {
  for (const name of PACKAGE_MANAGERS) {
    if (LOCK_FILES[name].some((file) => existsSync(join(directory, file)))) return name;
  }
  // A repository ends where its workspace does.
  const isTop = dirname(directory) === directory || existsSync(join(directory, ".git"));
  return isTop ? "npm" : packageManagerOf(dirname(directory));
}
