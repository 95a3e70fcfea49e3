import { usageError } from "../../../options/exit.js";
import type { PackageManager } from "../package-manager.js";
import type { AppFolder, Manifest } from "./app-folder.js";
import {
  findBodyParser,
  findCreation,
  findListen,
  findShutdown,
  type AppCreation,
  type Listen,
  type Place,
  type Source,
} from "./find-places.js";

export type TestRunner = "vitest" | "jest" | "mocha" | "node";

/** What was found out about an app. */
export interface App {
  language: "typescript" | "javascript";
  /** The module system at run time. In TypeScript the sources do not show it, because they use `import` with both systems. */
  modules: "esm" | "commonjs";
  /** The app is JavaScript with CommonJS modules, so its new files use `require`. */
  isRequiring: boolean;
  /** The extension of the app's sources, such as `.ts` or `.mjs`. */
  extension: string;
  /** The extension that the app writes when it imports its own files, such as `.js` or `.ts`; empty for none. */
  importExtension: string;
  /** The line with which a new file imports Express. */
  expressImport: string;
  testRunner: TestRunner;
  /** Jest cannot load ES modules in this app, and signalbox is one. So the lines that the user adds import it only when they run. */
  isLazy: boolean;
  packageManager: PackageManager;
  /** The folder of the sources, relative to the app's folder; empty if the sources are in the app's folder itself. */
  sourceFolder: string;
  creation: AppCreation | null;
  bodyParser: Place | null;
  listen: Listen | null;
  shutdown: Place | null;
}

/** @throws CliError when it is not an Express app */
export function detectApp({ manifest, sources, packageManager }: AppFolder): App {
  const { dependencies, scripts } = manifest;
  const creations = sources.flatMap((source) => {
    const creation = findCreation(source);
    return creation === null ? [] : [{ creation, bodyParser: findBodyParser(source, creation) }];
  });
  const { creation = null, bodyParser = null } =
    creations.find((each) => each.bodyParser !== null) ?? creations[0] ?? {};
  if (creation === null && !("express" in dependencies)) {
    throw usageError(
      "its package.json does not depend on express: name the folder of your Express app, or make a new receiver with --template express",
    );
  }
  const listen = inSameFileFirst(creation, sources, findListen);
  const entry = creation?.file ?? listen?.file;

  const found = /\.[cm]?[jt]s$/.exec(entry ?? sources[0]?.file ?? "")?.[0];
  const extension = found ?? ("typescript" in dependencies ? ".ts" : ".js");
  const isTypeScript = extension.endsWith("ts");
  const entryCode = sources.find(({ file }) => file === entry)?.code ?? "";
  // If `package.json` has no `type`, Node 22 runs a JavaScript file that has imports as an ES module.
  const hasImports = !isTypeScript && manifest.type === undefined && /^import\s[^(]/m.test(entryCode);
  const isEsm =
    extension.startsWith(".m") || (!extension.startsWith(".c") && (manifest.type === "module" || hasImports));
  const testRunner = testRunnerOf(manifest);
  const loadsEsm = Object.values(scripts).some((script) => script.includes("--experimental-vm-modules"));
  // An app that writes `import * as express` usually lacks `esModuleInterop`. Without it, TypeScript would refuse a default import in the new files.
  const isNamespace = sources.some(({ code }) => /^import \* as express /m.test(code));
  return {
    language: isTypeScript ? "typescript" : "javascript",
    modules: isEsm ? "esm" : "commonjs",
    isRequiring: !isTypeScript && !isEsm,
    extension,
    importExtension: importExtensionOf(sources, extension, isEsm),
    expressImport: `import ${isNamespace ? "* as express" : "express"} from "express";`,
    testRunner,
    isLazy: testRunner === "jest" && !(isEsm && loadsEsm),
    packageManager,
    sourceFolder: sourceFolderOf(sources, entry),
    creation,
    bodyParser,
    listen,
    shutdown: inSameFileFirst(listen, sources, findShutdown),
  };
}

/** Searches the file of `place` first, then all other sources. */
function inSameFileFirst<Found extends Place>(
  place: Place | null,
  sources: readonly Source[],
  find: (source: Source) => Found | null,
): Found | null {
  const found = sources.flatMap((source) => find(source) ?? []);
  return found.find(({ file }) => file === place?.file) ?? found[0] ?? null;
}

const RUNNERS = ["vitest", "jest", "mocha"] as const;

/** The test runner that the script `test` names, otherwise one among the dependencies, otherwise Node's. */
function testRunnerOf({ scripts, dependencies }: Manifest): TestRunner {
  const script = scripts["test"] ?? "";
  const named = RUNNERS.find((runner) => new RegExp(`\\b${runner}\\b`).test(script));
  return named ?? RUNNERS.find((runner) => runner in dependencies) ?? "node";
}

const OWN_IMPORT = /(?:\bfrom\s*|\bimport\s*\(?)["'](?:\.{1,2}\/)+[^"'\n.]*(\.[cm]?[jt]s)?["']/g;

/** In TypeScript, the extension in the first import of an own file or, without such imports, what the module system needs. */
function importExtensionOf(sources: readonly Source[], extension: string, isEsm: boolean): string {
  if (extension !== ".ts") return extension.replace("ts", "js");
  const [first] = sources.flatMap(({ code }) => [...code.matchAll(OWN_IMPORT)]);
  if (first === undefined) return isEsm ? ".js" : "";
  return first[1] ?? "";
}

function sourceFolderOf(sources: readonly Source[], entry: string | undefined): string {
  if (entry !== undefined && entry.includes("/") && !entry.startsWith("bin/")) return entry.split("/")[0] ?? "";
  if (entry !== undefined) return "";
  return sources.some(({ file }) => file.startsWith("src/")) ? "src" : "";
}
