import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { tempFolder } from "../unit/temp-folder.js";
import type { Packed } from "./pack.js";

export const REPOSITORY = new URL("../..", import.meta.url).pathname;

/** The package as it would be published: packed once for all tests, by `pack.ts`. */
export const pack = (): Packed => inject("packed");

/**
 * An empty folder with the packed package installed, its declared dependencies, and `others` (name
 * → what to install under it). Nothing else can be found from there.
 *
 * The dependencies are links to those of this repository: a real `npm install` compiles
 * better-sqlite3 for a minute and needs the registry. So this does not show that npm finds versions
 * for the ranges, nor that the driver compiles.
 */
export function install(
  others: Readonly<Record<string, string>> = {},
  without: readonly string[] = [],
): string {
  const folder = tempFolder();
  const own = join(folder, "node_modules", "signalbox");
  mkdirSync(own, { recursive: true });
  execFileSync("tar", ["-xzf", pack().tarball, "-C", own, "--strip-components=1"]);
  const { dependencies, optionalDependencies } = manifestOf(own);
  const declared = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !without.includes(name),
  );
  const sources = { ...Object.fromEntries(declared.map((name) => [name, name])), ...others };
  for (const [name, source] of Object.entries(sources)) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(REPOSITORY, "node_modules", source), link);
  }
  linkCommand(folder, own);
  return folder;
}

/** As npm does it. */
function linkCommand(folder: string, own: string): void {
  const command = join(own, manifestOf(own).bin["signalbox"] ?? "");
  chmodSync(command, 0o755);
  mkdirSync(join(folder, "node_modules", ".bin"));
  symlinkSync(command, join(folder, "node_modules", ".bin", "signalbox"));
}

/** What npm is to install beside the package, so that every entry point finds what it loads. */
export const PEERS: readonly string[] = Object.entries(manifestOf(REPOSITORY).peerDependencies).map(
  ([name, range]) => `${name}@${range}`,
);

/** What a program can import: `signalbox/client` and the others. */
export const ENTRIES: readonly string[] = Object.entries(manifestOf(REPOSITORY).exports)
  .filter(([, target]) => target.endsWith(".js"))
  .map(([path]) => path.replace(".", "signalbox"));

export interface Manifest {
  exports: Record<string, string>;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  scripts?: Record<string, string>;
}

/** The `package.json` of an installed package. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Of all files in a folder, those of its folders included. */
export function bytesIn(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}
