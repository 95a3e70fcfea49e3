import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { echoed } from "../../../console/printable.js";
import { cdCommand } from "../../../console/shell-quote.js";
import { usageError } from "../../../options/exit.js";
import type { PackageManager } from "../package-manager.js";
import type { PlannedFile } from "../write-files.js";
import { readAppFolder } from "./app-folder.js";
import { installCommands, notesFor, sendCommand, testCommand } from "./commands.js";
import { describeAddOn, type AddOnPlan } from "./describe-add-on.js";
import { detectApp, type App } from "./detect-app.js";
import { linesToAdd, MOUNT_PATH } from "./lines-to-add.js";
import { renderSource } from "./render-source.js";

/** The path is the same from `src` and from `dist`. */
const TEMPLATES = fileURLToPath(new URL("../../../../../templates/add-on/", import.meta.url));

export interface AddOnOptions {
  /** The folder for the new files, from the app's. @default `signals` in the folder of its sources */
  into?: string | undefined;
  /** Replace files that an earlier run wrote, unless they were changed since. */
  force?: boolean | undefined;
  /** @default the one that the app uses */
  packageManager?: PackageManager | undefined;
  /** What the package manager installs. @default "signalbox" */
  signalbox?: string | undefined;
}

/**
 * Plans the files of the add-on for the Express app in a folder. Nothing is written.
 *
 * @param appDir where the app's `package.json` is
 * @throws CliError when there is no Express app, or when one of the files exists
 */
export function planAddOn(appDir: string, options: AddOnOptions = {}): AddOnPlan {
  const { into, force = false, signalbox = "signalbox" } = options;
  const folder = readAppFolder(appDir);
  const detected = detectApp(folder);
  const app = { ...detected, packageManager: options.packageManager ?? detected.packageManager };
  const target = into === undefined ? posix.join(app.sourceFolder, "signals") : targetFolder(into);
  const { router, onSignal, test } = renderFiles(app, target);
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

/** Characters that would end a string of a source, or mean something in it. */
const UNQUOTABLE = /["'`$\p{Cc}\u2028\u2029]/u;

/** The folder with `/`. It must be inside of the app. */
function targetFolder(into: string): string {
  if (UNQUOTABLE.test(into)) {
    throw usageError(`--into ${echoed(into)} cannot stand in an import: name a folder such as src/signals`);
  }
  const folder = posix.normalize(into.replaceAll("\\", "/")).replace(/\/$/, "");
  if (!isAbsolute(into) && folder !== ".." && !folder.startsWith("../")) return folder;
  throw usageError(`--into ${echoed(into)} leads out of the app: name a folder in it, such as src/signals`);
}

/** @throws CliError when the file exists, unless an earlier run wrote it and `force` is given */
function assertFree(directory: string, path: string, force: boolean): void {
  const target = join(directory, path);
  if (!existsSync(target)) return;
  const isOurs = statSync(target).isFile() && isUntouched(readFileSync(target, "utf8"));
  if (isOurs && force) return;
  const fix = isOurs
    ? "give --force to write it anew"
    : "it is not written over: move it, or name a folder with --into";
  throw usageError(`${echoed(path)} is there already; ${fix}`);
}

function renderFiles(app: App, target: string): Record<"router" | "onSignal" | "test", PlannedFile> {
  const { extension, isLazy, isRequiring, language, testRunner, importExtension, expressImport } = app;
  const isVitest = testRunner === "vitest";
  const testModule = isVitest ? "vitest" : isLazy || testRunner === "node" ? "node:test" : null;
  const file = (template: string, name: string, isCommonJs = isRequiring): PlannedFile => {
    const text = renderSource(readFileSync(`${TEMPLATES}${template}.ts`, "utf8"), {
      isTypeScript: language === "typescript",
      isCommonJs,
      importExtension,
      expressImport,
      testModule,
    });
    return { path: posix.join(target, `${name}${extension}`), content: stamped(text) };
  };
  return {
    router: file("router", "router"),
    onSignal: file("on-signal", "on-signal"),
    // Jest would run a file that is called a test. Vitest takes `import` everywhere, and `require` nowhere.
    test: file("router.test", isLazy ? "router.check" : "router.test", isRequiring && !isVitest),
  };
}

const STAMP = /^\/\/ Written by signalbox init \(([0-9a-f]{12})\); it is yours to change\.\r?\n/;

/** Puts a digest of the text into its first line: so a later run sees whether the file was changed. */
function stamped(text: string): string {
  return `// Written by signalbox init (${digestOf(text)}); it is yours to change.\n${text}`;
}

/** Whether init wrote the file, and it was not changed since. */
function isUntouched(content: string): boolean {
  const stamp = STAMP.exec(content);
  return stamp !== null && stamp[1] === digestOf(content.slice(stamp[0].length));
}

function digestOf(text: string): string {
  // git may have changed the line ends.
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex").slice(0, 12);
}
