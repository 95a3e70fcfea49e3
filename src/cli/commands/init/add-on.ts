import { existsSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";
import { installCommands, sendCommand, testCommand } from "./add-on/commands.js";
import { describeAddOn } from "./add-on/describe-add-on.js";
import { detectApp, type App } from "./add-on/detect-app.js";
import { linesToAdd, MOUNT_PATH, type LinesToAdd } from "./add-on/lines-to-add.js";
import { notesFor } from "./add-on/notes.js";
import { readApp } from "./add-on/read-app.js";
import { renderSource, type Condition, type Rendering } from "./add-on/render-source.js";
import { isUntouched, stamped } from "./add-on/written-by-init.js";
import { cdCommand } from "./cd-command.js";
import type { PackageManager } from "./package-manager.js";
import type { Plan, PlannedFile } from "./plan.js";

/** The same way up from `src` and from `dist`. */
const TEMPLATES = fileURLToPath(new URL("../../../../templates/add-on/", import.meta.url));

export interface AddOnOptions {
  /** The folder for the new files, from the app's. @default `signals` in the folder of its sources */
  into?: string | undefined;
  /** Write over files that an earlier run wrote, as long as nobody changed them. */
  force?: boolean | undefined;
  /** @default the one whose lock file is there */
  packageManager?: PackageManager | undefined;
  /** What a package manager is told to install. @default "signalbox" */
  signalbox?: string | undefined;
}

/** New files for an app, and the lines that its owner adds. */
export interface AddOnPlan extends Plan {
  app: Pick<App, "language" | "modules" | "expressMajor" | "testRunner" | "packageManager">;
  edits: readonly LinesToAdd[];
  /** From the app's folder, which `cd` goes to; `null` where that is the current one. */
  commands: { cd: string | null; install: readonly string[]; test: string; send: string };
  environment: readonly { name: string; value: string; what: string }[];
  notes: readonly string[];
}

/**
 * Plans the files of the add-on for the Express app in a folder. Nothing is written.
 *
 * @param appDir where the app's `package.json` is
 * @throws CliError when there is no Express app, or a file is there already
 */
export async function planAddOn(appDir: string, options: AddOnOptions = {}): Promise<AddOnPlan> {
  const { into, force = false, signalbox = "signalbox" } = options;
  const folder = readApp(appDir);
  const detected = detectApp(folder);
  const app = { ...detected, packageManager: options.packageManager ?? detected.packageManager };
  const target = into === undefined ? posix.join(app.sourceFolder, "signals") : targetFolder(into);
  const { router, onSignal, test } = await renderFiles(app, target);
  const files = [router, onSignal, test];
  for (const { path } of files) assertFree(folder.directory, path, force);
  const { language, modules, expressMajor, testRunner, packageManager } = app;
  const plan = {
    app: { language, modules, expressMajor, testRunner, packageManager },
    files,
    edits: linesToAdd(app, folder.sources, posix.join(target, "router")),
    commands: {
      cd: cdCommand(folder.directory),
      install: installCommands(app, folder, signalbox),
      test: testCommand(app, folder, test.path),
      send: sendCommand(app, MOUNT_PATH),
    },
    environment: ENVIRONMENT,
    notes: notesFor(app, folder, test.path),
  };
  return { ...plan, nextSteps: describeAddOn(plan) };
}

const ENVIRONMENT: AddOnPlan["environment"] = [
  { name: "SIGNALS_SECRET", value: "whsec_…", what: "the signing secret, shown when the webhook is registered" },
  { name: "SIGNALS_DB", value: "signals.db", what: "the inbox's file, on a disk that stays; this is the default" },
];

/** What would end, or do something in, a string of a source. */
const UNQUOTABLE = /["'`$\p{Cc}\u2028\u2029]/u;

/** With `/`, and inside of the app: what it imports has to find it. */
function targetFolder(into: string): string {
  if (UNQUOTABLE.test(into)) {
    throw usageError(`--into ${echoed(into)} cannot stand in an import: name a folder such as src/signals`);
  }
  const folder = posix.normalize(into.replaceAll("\\", "/")).replace(/\/$/, "");
  if (!isAbsolute(into) && folder !== ".." && !folder.startsWith("../")) return folder;
  throw usageError(`--into ${echoed(into)} leads out of the app: name a folder in it, such as src/signals`);
}

/** @throws CliError when a file of somebody's would be written over */
function assertFree(directory: string, path: string, force: boolean): void {
  const target = join(directory, path);
  if (!existsSync(target)) return;
  const isOurs = statSync(target).isFile() && isUntouched(readFileSync(target, "utf8"));
  if (isOurs && force) return;
  const mend = isOurs
    ? "give --force to write it anew"
    : "it is not written over: move it, or name a folder with --into";
  throw usageError(`${echoed(path)} is there already; ${mend}`);
}

async function renderFiles(app: App, target: string): Promise<Record<"router" | "onSignal" | "test", PlannedFile>> {
  const { extension, importExtension, isLazy, isRequiring, language } = app;
  // Vitest cannot be had by `require`, and takes `import` everywhere.
  const isVitest = app.testRunner === "vitest";
  const runner: Condition[] = isVitest ? ["vitest"] : isLazy || app.testRunner === "node" ? ["nodetest"] : [];
  const rendering: Rendering = {
    conditions: new Set<Condition>([language === "typescript" ? "ts" : "js", ...runner]),
    values: { ext: importExtension, expressImport: app.expressImport },
    isCommonJs: isRequiring,
  };
  const file = async (template: string, name: string, how = rendering): Promise<PlannedFile> => ({
    path: posix.join(target, `${name}${extension}`),
    content: stamped(renderSource(await readFile(`${TEMPLATES}${template}.template`, "utf8"), how)),
  });
  return {
    router: await file("router", "router"),
    onSignal: await file("on-signal", "on-signal"),
    // Jest would take a file that is called a test for its own.
    test: await file("router-test", isLazy ? "router.check" : "router.test", {
      ...rendering,
      isCommonJs: isRequiring && !isVitest,
    }),
  };
}
