import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { usageError } from "../../../options/exit.js";
import { LOCK_FILES, PACKAGE_MANAGERS, type PackageManager } from "../package-manager.js";
import { sourceOf, type Source } from "./find-places.js";

/** What was read from an app's folder. `detectApp` draws conclusions from it. */
export interface AppFolder {
  /** Absolute. */
  directory: string;
  manifest: Manifest;
  /** The app's sources, without tests and builds. Sources in the top folder come first. */
  sources: readonly Source[];
  /**
   * The package manager whose lock file is in this folder or in the nearest folder above, because in a workspace only the root
   * has a lock file. npm if there is none.
   */
  packageManager: PackageManager;
}

/** @throws CliError when the folder has no `package.json` */
export function readAppFolder(appDir: string): AppFolder {
  const directory = resolve(appDir);
  return {
    directory,
    manifest: readManifest(directory, appDir),
    sources: readSources(directory),
    packageManager: packageManagerOf(directory),
  };
}

type Texts = Readonly<Record<string, string>>;

/** The properties of an app's `package.json` that the add-on depends on. */
export interface Manifest {
  type: string | undefined;
  scripts: Texts;
  /** `dependencies` and `devDependencies`: name → range. */
  dependencies: Texts;
}

function readManifest(directory: string, typed: string): Manifest {
  const path = join(directory, "package.json");
  if (!existsSync(path)) throw usageError(`there is no package.json in ${typed}: name the folder of your Express app`);
  try {
    const parsed = JSON.parse(readFileSync(path, "utf8")) as Partial<Manifest> & { devDependencies?: Texts };
    const { type, scripts = {}, dependencies, devDependencies } = parsed;
    return { type, scripts, dependencies: { ...devDependencies, ...dependencies } };
  } catch {
    // The parser's own message is not shown, because it may quote the file.
    throw usageError(`the package.json in ${typed} cannot be read as JSON: fix it`);
  }
}

const SOURCE = /\.[cm]?[jt]s$/;
const NOT_A_SOURCE = /\.d\.[cm]?ts$|[.-](?:test|spec|config|check)\.[cm]?[jt]s$/;
const SKIPPED_FOLDERS = new Set(
  "node_modules dist build out coverage public static test tests __tests__ __mocks__ spec e2e fixtures".split(" "),
);
/** Apps have fewer files. The limit ends a search that was started in a wrong, large folder. */
const MAX_FILES = 2000;

function readSources(directory: string): Source[] {
  const sources: Source[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined && sources.length < MAX_FILES; folder = folders.shift()) {
    const entries = readdirSync(join(directory, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !entry.name.startsWith(".") && !SKIPPED_FOLDERS.has(entry.name)) folders.push(file);
      else if (entry.isFile() && isSource(entry.name)) {
        sources.push(sourceOf(file, readFileSync(join(directory, file), "utf8")));
      }
    }
  }
  return sources;
}

/** `www` counts as a source, because express-generator puts the call of `listen` into `bin/www`, a file without an extension. */
function isSource(name: string): boolean {
  return name === "www" || (SOURCE.test(name) && !NOT_A_SOURCE.test(name));
}

function packageManagerOf(directory: string): PackageManager {
  for (const name of PACKAGE_MANAGERS) {
    if (LOCK_FILES[name].some((file) => existsSync(join(directory, file)))) return name;
  }
  // The search ends at the top of the repository, because a workspace does not extend beyond it.
  const isTop = dirname(directory) === directory || existsSync(join(directory, ".git"));
  return isTop ? "npm" : packageManagerOf(dirname(directory));
}
