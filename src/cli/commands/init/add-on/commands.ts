import { shellQuote } from "../../../console/shell-quote.js";
import { EXEC, type PackageManager } from "../package-manager.js";
import type { Manifest } from "./app-folder.js";
import type { App } from "./detect-app.js";

const ADD: Readonly<Record<PackageManager, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
  bun: "bun add",
};

/** Installs what the new files import and the app does not have. */
export function installCommands({ language, packageManager }: App, manifest: Manifest, signalbox: string): string[] {
  const isMissing = (name: string): boolean => !(name in manifest.dependencies);
  const types = language === "typescript" ? ["@types/express", "@types/node"].filter(isMissing) : [];
  return [
    ...(isMissing("signalbox") ? [`${ADD[packageManager]} ${signalbox}`] : []),
    ...(types.length === 0 ? [] : [`${ADD[packageManager]} -D ${types.join(" ")}`]),
  ];
}

/** Runs only the new test. */
export function testCommand({ language, packageManager, testRunner, isLazy }: App, testPath: string): string {
  const path = shellQuote(testPath);
  if (!isLazy && testRunner !== "node") {
    return `${EXEC[packageManager]} ${testRunner}${testRunner === "vitest" ? " run" : ""} ${path}`;
  }
  // npx installs tsx for this one run, if the app does not have it.
  return `${language === "typescript" ? "npx tsx" : "node"} --test ${path}`;
}

/** Sends a signal to the running app. */
export function sendCommand({ packageManager, listen }: App, mountPath: string): string {
  return `${EXEC[packageManager]} signalbox send traffic_breakout --url http://localhost:${listen?.port ?? 3000}${mountPath}`;
}

/** What the user of this app has to know. */
export function notesFor(app: App, { dependencies }: Manifest, testPath: string): string[] {
  const notes: string[] = ["Keep the inbox out of git: add the line signals.db* to .gitignore."];
  if (app.isLazy) {
    notes.push(
      "Jest does not load ES modules such as signalbox here, so these lines load it only when it is used, and " +
        `${testPath} runs under node:test.`,
    );
  }
  if (app.language === "typescript" && app.modules === "commonjs") {
    notes.push(
      'If tsconfig.json has "module": "node16" or "node18", set "nodenext": those let no CommonJS import an ES module ' +
        "such as signalbox. Node 20.19 and later can.",
    );
  }
  if ("dotenv" in dependencies) {
    notes.push("SIGNALS_DB is read when the router is loaded: load .env before that, or set it outside of .env.");
  }
  if (app.packageManager === "pnpm") {
    notes.push("If pnpm skips the install script of better-sqlite3, run `pnpm approve-builds` and choose it.");
  }
  return notes;
}
