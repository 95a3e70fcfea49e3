import { usageError } from "../../../options/exit.js";
import {
  findBodyParser,
  findCreation,
  findListen,
  type AppCreation,
  type BodyParser,
  type Listen,
  type Place,
  type Source,
} from "./find-places.js";
import { findShutdowns, type Shutdown } from "./find-shutdowns.js";
import type { PackageManager } from "../package-manager.js";
import type { AppFolder, Manifest } from "./app-folder.js";

export type TestRunner = "vitest" | "jest" | "mocha" | "node";

/** What is known of an app. */
export interface App {
  language: "typescript" | "javascript";
  /** What its sources are when they run. TypeScript is written with `import` in both cases. */
  modules: "esm" | "commonjs";
  /** JavaScript that uses `require`. */
  isRequiring: boolean;
  /** What the names of its sources end with: `.ts`, `.mjs`. */
  extension: string;
  /** What its imports of its own files end with: `.js`, `.ts` or nothing. */
  importExtension: string;
  /** The line that imports Express, as its sources have it. */
  expressImport: string;
  expressMajor: number | null;
  testRunner: TestRunner;
  /** Jest cannot load ES modules such as signalbox here: the lines to add load it only when they run. */
  isLazy: boolean;
  packageManager: PackageManager;
  /** From the app's folder; empty if the sources are at the top. */
  sourceFolder: string;
  creation: AppCreation | null;
  bodyParser: BodyParser | null;
  listen: Listen | null;
  /** All in one file; empty if the app has no listener of SIGTERM or SIGINT. */
  shutdowns: readonly Shutdown[];
}

/** @throws CliError when it is no Express app */
export function detectApp(folder: AppFolder): App {
  const { manifest, compilerOptions } = folder;
  const version = folder.installedExpress ?? manifest.dependencies["express"] ?? "";
  const expressMajor = /\d+/.test(version) ? Number(/\d+/.exec(version)?.[0]) : null;
  if (expressMajor !== null && expressMajor < 4) {
    throw usageError(`signalbox works with Express 4.18 and 5, and this app has ${expressMajor}: update it first`);
  }

  const sources = likeliestFirst(folder);
  const creations = sources.flatMap((source) => {
    const creation = findCreation(source);
    return creation === null ? [] : [{ creation, bodyParser: findBodyParser(source, creation) }];
  });
  const { creation = null, bodyParser = null } =
    creations.find((each) => each.bodyParser !== null) ?? creations[0] ?? {};
  if (creation === null && !("express" in manifest.dependencies)) {
    throw usageError(
      "express is no dependency in its package.json: name the folder of your Express app, or make a new receiver with --template express",
    );
  }
  const listen =
    inFileOf(
      creation,
      sources.flatMap((source) => findListen(source) ?? []),
    )[0] ?? null;
  const shutdowns = inFileOf(listen, sources.flatMap(findShutdowns));

  const example = creation?.file ?? listen?.file ?? folder.sources.toSorted(byDepth)[0]?.file ?? "";
  const ending = /\.[cm]?[jt]s$/.exec(example)?.[0];
  const extension = ending ?? (compilerOptions !== null || "typescript" in manifest.dependencies ? ".ts" : ".js");
  const isTypeScript = extension.endsWith("ts");
  const text = folder.sources.find(({ file }) => file === example)?.text ?? "";
  const isEsm = isTypeScript
    ? isCompiledToEsm(extension, folder)
    : extension === ".mjs" || (extension === ".js" && manifest.type === "module");
  const testRunner = testRunnerOf(manifest);
  const loadsEsm = Object.values(manifest.scripts).some((script) => script.includes("--experimental-vm-modules"));
  return {
    language: isTypeScript ? "typescript" : "javascript",
    modules: isEsm ? "esm" : "commonjs",
    // Babel and bundlers take `import` in what runs as CommonJS.
    isRequiring: !isTypeScript && !isEsm && !/^(?:import\s[^(]|export\s)/m.test(text),
    extension,
    importExtension: importExtensionOf(folder, extension, isEsm),
    expressImport: expressImportOf(folder.sources),
    expressMajor,
    testRunner,
    isLazy: testRunner === "jest" && !(isEsm && loadsEsm),
    packageManager: packageManagerOf(folder),
    sourceFolder: sourceFolderOf(folder, creation?.file ?? listen?.file),
    creation,
    bodyParser,
    listen,
    // All in one file.
    shutdowns: shutdowns.filter(({ file }) => file === shutdowns[0]?.file),
  };
}

/** Files that `package.json` names, then those nearest to the top. */
function likeliestFirst({ manifest, sources }: AppFolder): Source[] {
  const named = [manifest.main ?? "", ...Object.values(manifest.scripts)].join(" ");
  return sources.toSorted((a, b) => Number(named.includes(b.file)) - Number(named.includes(a.file)) || byDepth(a, b));
}

/** Those in the same file first. */
function inFileOf<Found extends Place>(place: Place | null, places: readonly Found[]): Found[] {
  return places.toSorted((a, b) => Number(b.file === place?.file) - Number(a.file === place?.file));
}

function byDepth(a: Source, b: Source): number {
  return depthOf(a.file) - depthOf(b.file) || (a.file < b.file ? -1 : 1);
}

/** In a folder, a file with a usual name comes first. */
function depthOf(file: string): number {
  return file.split("/").length * 2 - Number(/(?:^|\/)(?:app|server|index|main)\.\w+$/.test(file));
}

const RUNNERS = ["vitest", "jest", "mocha"] as const;

/** The one in the script `test`, else the one among the dependencies, else Node's own. */
function testRunnerOf({ scripts, dependencies }: Manifest): TestRunner {
  const script = scripts["test"] ?? "";
  const named = RUNNERS.find((runner) => new RegExp(`\\b${runner}\\b`).test(script));
  if (named !== undefined) return named;
  if (/\b(?:node|tsx)\b.*--test\b/.test(script)) return "node";
  return RUNNERS.find((runner) => runner in dependencies) ?? "node";
}

function isCompiledToEsm(extension: string, { manifest, compilerOptions }: AppFolder): boolean {
  if (extension !== ".ts") return extension === ".mts";
  const module = compilerOptions?.module ?? "node16";
  if (module === "commonjs") return false;
  return module.startsWith("node") ? manifest.type === "module" : true;
}

const OWN_IMPORT = /(?:\bfrom\s*|\brequire\(|\bimport\(|^import\s*)["']\.{1,2}\/[^"'\n]*?(\.[cm]?[jt]s)?["']/gm;

/** The ending that its sources use most often, else the one that its module system needs. */
function importExtensionOf({ sources, compilerOptions }: AppFolder, extension: string, isEsm: boolean): string {
  const { allowImportingTsExtensions, rewriteRelativeImportExtensions } = compilerOptions ?? {};
  if ((allowImportingTsExtensions || rewriteRelativeImportExtensions) && extension.endsWith("ts")) return extension;
  const counts = new Map<string, number>();
  for (const { text } of sources) {
    for (const [, used = ""] of text.matchAll(OWN_IMPORT)) counts.set(used, (counts.get(used) ?? 0) + 1);
  }
  const usual = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
  const full = extension.replace("ts", "js");
  // No other ending is found.
  if (/^\.[cm]/.test(extension)) return full;
  if (usual === undefined) return isEsm ? full : "";
  return usual === "" ? "" : usual.endsWith("ts") ? extension : full;
}

/** As its sources import it: without `esModuleInterop` TypeScript takes no default import. */
function expressImportOf(sources: readonly Source[]): string {
  const own =
    /^import (?:express(?:, \{[^}\n]*\})?|\* as express|express =) (?:from ["']express["']|require\(["']express["']\));?$/m;
  for (const { text } of sources) {
    const [line = ""] = own.exec(text) ?? [];
    if (line.startsWith("import * as")) return 'import * as express from "express";';
    if (line.startsWith("import express =")) return 'import express = require("express");';
    if (line !== "") break;
  }
  return 'import express from "express";';
}

function packageManagerOf({ manifest, lockFile }: AppFolder): PackageManager {
  // Corepack's field is written by a person. A second lock file may be a leftover.
  const said = /^(npm|pnpm|yarn|bun)@/.exec(manifest.packageManager ?? "")?.[1];
  const locked = /^(pnpm|yarn|bun)/.exec(lockFile ?? "")?.[1];
  return (said ?? locked ?? "npm") as PackageManager;
}

function sourceFolderOf({ sources }: AppFolder, entry: string | undefined): string {
  if (entry !== undefined && entry.includes("/") && !entry.startsWith("bin/")) return entry.split("/")[0] ?? "";
  if (entry !== undefined) return "";
  return sources.some(({ file }) => file.startsWith("src/")) ? "src" : "";
}
