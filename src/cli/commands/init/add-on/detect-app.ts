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
  type Shutdown,
  type Source,
} from "./find-places.js";

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
  /** The line that imports Express. */
  expressImport: string;
  expressMajor: number | null;
  testRunner: TestRunner;
  /** Jest cannot load ES modules such as signalbox here: the lines to add load it only when they run. */
  isLazy: boolean;
  packageManager: PackageManager;
  /** From the app's folder; empty if the sources are at the top. */
  sourceFolder: string;
  creation: AppCreation | null;
  bodyParser: Place | null;
  listen: Listen | null;
  shutdown: Shutdown | null;
}

/** @throws CliError when it is no Express app */
export function detectApp({ manifest, sources, packageManager }: AppFolder): App {
  const { dependencies, scripts } = manifest;
  const version = /\d+/.exec(dependencies["express"] ?? "")?.[0];
  const expressMajor = version === undefined ? null : Number(version);
  if (expressMajor !== null && expressMajor < 4) {
    throw usageError(`signalbox works with Express 4.18 and 5, and this app has ${expressMajor}: update it first`);
  }

  const creations = sources.flatMap((source) => {
    const creation = findCreation(source);
    return creation === null ? [] : [{ creation, bodyParser: findBodyParser(source, creation) }];
  });
  const { creation = null, bodyParser = null } =
    creations.find((each) => each.bodyParser !== null) ?? creations[0] ?? {};
  if (creation === null && !("express" in dependencies)) {
    throw usageError(
      "express is no dependency in its package.json: name the folder of your Express app, or make a new receiver with --template express",
    );
  }
  const listen = inFileOf(creation, sources, findListen);
  const entry = creation?.file ?? listen?.file;

  const ending = /\.[cm]?[jt]s$/.exec(entry ?? sources[0]?.file ?? "")?.[0];
  const extension = ending ?? ("typescript" in dependencies ? ".ts" : ".js");
  const isTypeScript = extension.endsWith("ts");
  const entryCode = sources.find(({ file }) => file === entry)?.code ?? "";
  // Without a type, Node 22 runs JavaScript that has imports as an ES module, and Babel compiles it.
  const hasImports = !isTypeScript && manifest.type === undefined && /^import\s[^(]/m.test(entryCode);
  const isEsm =
    extension.startsWith(".m") || (!extension.startsWith(".c") && (manifest.type === "module" || hasImports));
  const testRunner = testRunnerOf(manifest);
  const loadsEsm = Object.values(scripts).some((script) => script.includes("--experimental-vm-modules"));
  // Without `esModuleInterop` TypeScript takes no default import.
  const isNamespace = sources.some(({ code }) => /^import \* as express /m.test(code));
  return {
    language: isTypeScript ? "typescript" : "javascript",
    modules: isEsm ? "esm" : "commonjs",
    isRequiring: !isTypeScript && !isEsm,
    extension,
    importExtension: importExtensionOf(sources, extension, isEsm),
    expressImport: `import ${isNamespace ? "* as express" : "express"} from "express";`,
    expressMajor,
    testRunner,
    isLazy: testRunner === "jest" && !(isEsm && loadsEsm),
    packageManager,
    sourceFolder: sourceFolderOf(sources, entry),
    creation,
    bodyParser,
    listen,
    shutdown: inFileOf(listen, sources, findShutdown),
  };
}

/** What is in the same file comes first. */
function inFileOf<Found extends Place>(
  place: Place | null,
  sources: readonly Source[],
  find: (source: Source) => Found | null,
): Found | null {
  const found = sources.flatMap((source) => find(source) ?? []);
  return found.find(({ file }) => file === place?.file) ?? found[0] ?? null;
}

const RUNNERS = ["vitest", "jest", "mocha"] as const;

/** The one in the script `test`, else the one among the dependencies, else Node's own. */
function testRunnerOf({ scripts, dependencies }: Manifest): TestRunner {
  const script = scripts["test"] ?? "";
  const named = RUNNERS.find((runner) => new RegExp(`\\b${runner}\\b`).test(script));
  return named ?? RUNNERS.find((runner) => runner in dependencies) ?? "node";
}

const OWN_IMPORT = /(?:\bfrom\s*|\bimport\s*\(?)["'](?:\.{1,2}\/)+[^"'\n.]*(\.[cm]?[jt]s)?["']/g;

/** In TypeScript the ending that its sources use, else the one that its module system needs. */
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
