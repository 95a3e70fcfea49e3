import { isAbsolute, join, relative } from "node:path";
import { shellQuote } from "../../../console/shell-quote.js";
import { EXEC } from "../package-manager.js";
import type { App } from "./detect-app.js";
import type { AppFolder } from "./read-app.js";

const ADD = { npm: "npm install", pnpm: "pnpm add", yarn: "yarn add", bun: "bun add" } as const;
const ADD_FOR_DEVELOPMENT = {
  npm: "npm install --save-dev",
  pnpm: "pnpm add -D",
  yarn: "yarn add -D",
  bun: "bun add -d",
};

/** What the new files import and the app does not have. */
export function installCommands(
  { language, packageManager }: App,
  { manifest }: AppFolder,
  signalbox: string,
): string[] {
  const isMissing = (name: string): boolean => !(name in manifest.dependencies);
  const types = language === "typescript" ? ["@types/express", "@types/node"].filter(isMissing) : [];
  return [
    ...(isMissing("signalbox") ? [`${ADD[packageManager]} ${signalbox}`] : []),
    ...(types.length === 0 ? [] : [`${ADD_FOR_DEVELOPMENT[packageManager]} ${types.join(" ")}`]),
  ];
}

/** Runs the new test alone. */
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
  // npx fetches it for this once.
  if (built === null) return `npx tsx --test ${path}`;
  const build = "build" in scripts ? `${app.packageManager} run build` : `${run} tsc -p .`;
  return `${build} && node --test ${shellQuote(built)}`;
}

/** What the compiler makes of a source; `null` where tsconfig.json does not say where that goes. */
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
