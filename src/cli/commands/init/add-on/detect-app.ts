import { usageError } from "../../../options/exit.js";
import {
  findBodyParser,
  findCreation,
  findListen,
  type AppCreation,
  type BodyParser,
  type Listen,
  type Place,
} from "./find-places.js";
import { findShutdowns, type Shutdown } from "./find-shutdowns.js";
import { detectTestRunner, isJestWithoutEsm, type TestRunner } from "./detect-test-runner.js";
import type { PackageManager } from "../package-manager.js";
import type { AppFolder } from "./read-app.js";

/** What is known of an app. */
export interface App {
  language: "typescript" | "javascript";
  /** What its sources become when they run; TypeScript is written with `import` either way. */
  modules: "esm" | "commonjs";
  /** JavaScript that says `require`. */
  isRequiring: boolean;
  /** What the names of its sources end with: `.ts`, `.mjs`. */
  extension: string;
  /** What its imports of its own files end with: `.js`, `.ts` or nothing. */
  importExtension: string;
  /** How it gets Express itself. */
  expressImport: string;
  expressMajor: number | null;
  testRunner: TestRunner;
  /** Its tests could not load signalbox, so nothing that they load may do so before it is used. */
  isLazy: boolean;
  packageManager: PackageManager;
  /** From the app's folder; empty when the sources stand at the top. */
  sourceFolder: string;
  creation: AppCreation | null;
  bodyParser: BodyParser | null;
  listen: Listen | null;
  /** All in one file; empty where the app does nothing about it. */
  shutdowns: readonly Shutdown[];
}

/** @throws CliError when it is no Express app */
export function detectApp(folder: AppFolder): App {
  const { manifest, compilerOptions, sources } = folder;
  const expressMajor = majorOf(folder.installed.express ?? manifest.dependencies["express"] ?? "");
  if (expressMajor !== null && expressMajor < 4) {
    throw usageError(`signalbox works with Express 4.18 and 5, and this app has ${expressMajor}: update it first`);
  }

  const creations = placesIn(folder, findCreation);
  const creation =
    creations.find((each) => findBodyParser(each.file, sources.get(each.file) ?? "", each) !== null) ??
    creations[0] ??
    null;
  if (creation === null && !("express" in manifest.dependencies)) {
    throw usageError(
      "express is no dependency in its package.json: name the folder of your Express app, or make a new receiver with --template express",
    );
  }
  const listens = placesIn(folder, findListen);
  const listen = listens.find(({ file }) => file === creation?.file) ?? listens[0] ?? null;
  const shutdowns = placesIn(folder, findShutdowns);
  const shutdownFile = (shutdowns.find(({ file }) => file === listen?.file) ?? shutdowns[0])?.file;

  const example = creation?.file ?? listen?.file ?? [...sources.keys()].sort(byDepth)[0] ?? "";
  const ending = /\.[cm]?[jt]s$/.exec(example)?.[0];
  const extension = ending ?? (compilerOptions !== null || "typescript" in manifest.dependencies ? ".ts" : ".js");
  const isTypeScript = extension.endsWith("ts");
  const says = sources.get(example) ?? "";
  const isEsmText = /^(?:import\s[^(]|export\s)/m.test(says);
  const isEsm = isTypeScript
    ? isCompiledToEsm(extension, folder)
    : extension === ".mjs" || (extension === ".js" && manifest.type === "module");
  const testRunner = detectTestRunner(manifest);
  return {
    language: isTypeScript ? "typescript" : "javascript",
    modules: isEsm ? "esm" : "commonjs",
    // Babel and bundlers take `import` in what runs as CommonJS.
    isRequiring: !isTypeScript && !isEsm && !isEsmText,
    extension,
    importExtension: importExtensionOf(folder, extension, isEsm),
    expressImport: expressImportOf(sources),
    expressMajor,
    testRunner,
    isLazy: isJestWithoutEsm(manifest, testRunner, isEsm),
    packageManager: packageManagerOf(folder),
    sourceFolder: sourceFolderOf(folder, creation?.file ?? listen?.file),
    creation,
    bodyParser: creation && findBodyParser(creation.file, sources.get(creation.file) ?? "", creation),
    listen,
    shutdowns: shutdowns.filter(({ file }) => file === shutdownFile),
  };
}

/** The likeliest first: what `package.json` names, then what stands nearest to the top. */
function placesIn<Found extends Place>(
  { manifest, sources }: AppFolder,
  find: (file: string, source: string) => Found | readonly Found[] | null,
): Found[] {
  const named = [manifest.main ?? "", ...Object.values(manifest.scripts)].join(" ");
  const files = [...sources.keys()].sort(
    (a, b) => Number(named.includes(b)) - Number(named.includes(a)) || byDepth(a, b),
  );
  return files.flatMap((file) => find(file, sources.get(file) ?? "") ?? []);
}

const ENTRY = /(?:^|\/)(?:app|server|index|main)\.\w+$/;

function byDepth(a: string, b: string): number {
  return depthOf(a) - depthOf(b) || (a < b ? -1 : 1);
}

/** Of two in one folder, the one with a usual name comes first. */
function depthOf(path: string): number {
  return path.split("/").length * 2 - Number(ENTRY.test(path));
}

function isCompiledToEsm(extension: string, { manifest, compilerOptions }: AppFolder): boolean {
  if (extension !== ".ts") return extension === ".mts";
  const mode = compilerOptions?.module ?? "node16";
  if (mode === "commonjs") return false;
  return mode.startsWith("node") ? manifest.type === "module" : true;
}

const OWN_IMPORT = /(?:\bfrom\s*|\brequire\(|\bimport\(|^import\s*)["']\.{1,2}\/[^"'\n]*?(\.[cm]?[jt]s)?["']/gm;

/** As its sources do it most often; else as its module system wants it. */
function importExtensionOf({ sources, compilerOptions }: AppFolder, extension: string, isEsm: boolean): string {
  if (compilerOptions?.allowImportingTsExtensions === true && extension.endsWith("ts")) return extension;
  if (compilerOptions?.rewriteRelativeImportExtensions === true && extension.endsWith("ts")) return extension;
  const counts = new Map<string, number>();
  for (const source of sources.values()) {
    for (const [, used = ""] of source.matchAll(OWN_IMPORT)) counts.set(used, (counts.get(used) ?? 0) + 1);
  }
  const usual = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
  const full = extension.replace("ts", "js");
  // Others would not be found at all.
  if (extension === ".cjs" || extension === ".mjs" || extension === ".cts" || extension === ".mts") return full;
  if (usual === undefined) return isEsm ? full : "";
  return usual === "" ? "" : usual.endsWith("ts") ? extension : full;
}

/** Its own way, where it has one: without `esModuleInterop` TypeScript takes no default import. */
function expressImportOf(sources: ReadonlyMap<string, string>): string {
  const own =
    /^import (?:express(?:, \{[^}\n]*\})?|\* as express|express =) (?:from ["']express["']|require\(["']express["']\));?$/m;
  for (const source of sources.values()) {
    const [line = ""] = own.exec(source) ?? [];
    if (line.startsWith("import * as")) return 'import * as express from "express";';
    if (line.startsWith("import express =")) return 'import express = require("express");';
    if (line !== "") break;
  }
  return 'import express from "express";';
}

const PACKAGE_MANAGERS: readonly (readonly [lockFile: RegExp, name: PackageManager])[] = [
  [/^pnpm-/, "pnpm"],
  [/^yarn/, "yarn"],
  [/^bun/, "bun"],
  [/./, "npm"],
];

function packageManagerOf({ manifest, lockFiles }: AppFolder): PackageManager {
  // Corepack's field is a person's own word; a second lock file may be a leftover.
  const said = /^(npm|pnpm|yarn|bun)@/.exec(manifest.packageManager ?? "")?.[1];
  if (said !== undefined) return said as PackageManager;
  return PACKAGE_MANAGERS.find(([pattern]) => pattern.test(lockFiles[0] ?? ""))?.[1] ?? "npm";
}

function sourceFolderOf({ sources }: AppFolder, entry: string | undefined): string {
  if (entry !== undefined && entry.includes("/") && !entry.startsWith("bin/")) return entry.split("/")[0] ?? "";
  if (entry !== undefined) return "";
  return [...sources.keys()].some((path) => path.startsWith("src/")) ? "src" : "";
}

function majorOf(version: string): number | null {
  const digits = /\d+/.exec(version)?.[0];
  return digits === undefined ? null : Number(digits);
}
