import { shellQuote } from "../../shell-quote.js";
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

/** Runs the new test alone; `null` where the app has to be built first. */
export function testCommand(app: App, { manifest }: AppFolder, testPath: string): string | null {
  const path = shellQuote(testPath);
  const run = EXEC[app.packageManager];
  if (app.isLazy || app.testRunner === "node") {
    if (app.language === "javascript") return `node --test ${path}`;
    return "tsx" in manifest.dependencies ? `${run} tsx --test ${path}` : null;
  }
  return `${run} ${app.testRunner}${app.testRunner === "vitest" ? " run" : ""} ${path}`;
}

/** Sends a signal to the running app. */
export function sendCommand({ packageManager, listen }: App, mountPath: string): string {
  return `${EXEC[packageManager]} signalbox send traffic_breakout --url http://localhost:${listen?.port ?? 3000}${mountPath}`;
}
