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

/** The commands that install the packages that the new files import and the app lacks. */
export function installCommands({ language, packageManager }: App, manifest: Manifest, signalbox: string): string[] {
  const isMissing = (name: string): boolean => !(name in manifest.dependencies);
  const types = language === "typescript" ? ["@types/express", "@types/node"].filter(isMissing) : [];
  return [
    ...(isMissing("signalbox") ? [`${ADD[packageManager]} ${signalbox}`] : []),
    ...(types.length === 0 ? [] : [`${ADD[packageManager]} -D ${types.join(" ")}`]),
  ];
}

/** The command that runs only the new test. */
export function testCommand({ language, packageManager, testRunner, isLazy }: App, testPath: string): string {
  const path = shellQuote(testPath);
  if (!isLazy && testRunner !== "node") {
    return `${EXEC[packageManager]} ${testRunner}${testRunner === "vitest" ? " run" : ""} ${path}`;
  }
  // If the app does not have tsx, npx downloads it.
  return `${language === "typescript" ? "npx tsx" : "node"} --test ${path}`;
}

/** The notes that are printed below the next steps. */
export function notesFor(app: App, { dependencies }: Manifest, testPath: string): string[] {
  const notes: string[] = [
    "Keep the inbox and the secrets out of git: add the lines signals.db* and *.secret to .gitignore.",
  ];
  if (app.isLazy) {
    notes.push(
      "In this app Jest cannot load ES modules such as signalbox. So the lines to add load signalbox only when it is used, and " +
        `${testPath} runs under node:test.`,
    );
  }
  if (app.language === "typescript" && app.modules === "commonjs") {
    notes.push(
      'If tsconfig.json has "module": "node16" or "node18", set "nodenext": with the first two TypeScript refuses to import ' +
        "an ES module such as signalbox into CommonJS, although Node 20.19 and later can do that.",
    );
  }
  if ("dotenv" in dependencies) {
    notes.push(
      "The router reads its variables when it is imported: load .env before that import, or set them outside .env.",
    );
  }
  if (app.packageManager === "pnpm") {
    notes.push(
      "If pnpm skips the install script of better-sqlite3, run `pnpm approve-builds` and select better-sqlite3.",
    );
  }
  return notes;
}
