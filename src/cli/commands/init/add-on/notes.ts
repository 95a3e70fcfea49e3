import type { App } from "./detect-app.js";
import type { AppFolder } from "./read-app.js";

/** What is to be known about this app, and about no other. */
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
