import { isAbsolute, join, relative } from "node:path";
import { shellQuote } from "../../../console/shell-quote.js";
import { EXEC, type PackageManager } from "../package-manager.js";
import type { AppFolder } from "./app-folder.js";
import type { App } from "./detect-app.js";

const ADD: Readonly<Record<PackageManager, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
  bun: "bun add",
};

/** Installs what the new files import and the app does not have. */
export function installCommands(
  { language, packageManager }: App,
  { manifest }: AppFolder,
  signalbox: string,
): string[] {
  const isMissing = (name: string): boolean => !(name in manifest.dependencies);
  const types = language === "typescript" ? ["@types/express", "@types/node"].filter(isMissing) : [];
  return [
    ...(isMissing("signalbox") ? [`${ADD[packageManager]} ${signalbox}`] : []),
    ...(types.length === 0 ? [] : [`${ADD[packageManager]} -D ${types.join(" ")}`]),
  ];
}

/** Runs only the new test. */
export function testCommand(app: App, folder: AppFolder, testPath: string): string {
  const path = shellQuote(testPath);
  const run = EXEC[app.packageManager];
  if (!app.isLazy && app.testRunner !== "node") {
    return `${run} ${app.testRunner}${app.testRunner === "vitest" ? " run" : ""} ${path}`;
  }
  if (app.language === "javascript") return `node --test ${path}`;
  const { dependencies, scripts } = folder.manifest;
  if ("tsx" in dependencies) return `${run} tsx --test ${path}`;
  const built = builtPath(folder, testPath);
  // npx installs it for this one run.
  if (built === null) return `npx tsx --test ${path}`;
  const build = "build" in scripts ? `${app.packageManager} run build` : `${run} tsc -p .`;
  return `${build} && node --test ${shellQuote(built)}`;
}

/** Where the compiler writes a source; `null` if tsconfig.json does not say it. */
function builtPath({ directory, compilerOptions }: AppFolder, source: string): string | null {
  const { rootDir, outDir } = compilerOptions ?? {};
  if (rootDir === undefined || outDir === undefined) return null;
  const inRoot = relative(rootDir, join(directory, source));
  if (inRoot.startsWith("..") || isAbsolute(inRoot)) return null;
  return relative(directory, join(outDir, inRoot)).replaceAll("\\", "/").replace(/ts$/, "js");
}

/** Sends a signal to the running app. */
export function sendCommand({ packageManager, listen }: App, mountPath: string): string {
  return `${EXEC[packageManager]} signalbox send traffic_breakout --url http://localhost:${listen?.port ?? 3000}${mountPath}`;
}

/** What the user of this app has to know. */
export function notesFor(app: App, { manifest, compilerOptions }: AppFolder, testPath: string): string[] {
  const notes: string[] = ["Keep the inbox out of git: add the line signals.db* to .gitignore."];
  if (app.isLazy) {
    notes.push(
      "Jest does not load ES modules such as signalbox here, so these lines load it only when it is used, and " +
        `${testPath} runs under node:test.`,
    );
  }
  const { module = "" } = compilerOptions ?? {};
  if (app.language === "typescript" && app.modules === "commonjs" && /^node1[68]$/.test(module)) {
    notes.push(
      `tsconfig.json has "module": "${module}", which lets no CommonJS import an ES module such as signalbox. ` +
        'Node 20.19 and later can: set "module": "nodenext".',
    );
  }
  if ("dotenv" in manifest.dependencies) {
    notes.push("SIGNALS_DB is read when the router is loaded: load .env before that, or set it outside of .env.");
  }
  if (app.packageManager === "pnpm") {
    notes.push("If pnpm skips the install script of better-sqlite3, run `pnpm approve-builds` and choose it.");
  }
  return notes;
}
