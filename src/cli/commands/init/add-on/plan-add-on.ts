import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { echoed } from "../../../console/printable.js";
import { cdCommand } from "../../../console/shell-quote.js";
import { usageError } from "../../../options/exit.js";
import { EXEC, type PackageManager } from "../package-manager.js";
import type { PlannedFile } from "../write-files.js";
import { readAppFolder } from "./app-folder.js";
import { installCommands, notesFor, testCommand } from "./commands.js";
import { describeAddOn, type AddOnPlan } from "./describe-add-on.js";
import { detectApp, type App } from "./detect-app.js";
import { linesToAdd, MOUNT_PATH } from "./lines-to-add.js";
import { renderSource } from "./render-source.js";

/** This relative path is correct from `src` and from `dist`, because both have the same folders inside. */
const TEMPLATES = fileURLToPath(new URL("../../../../../templates/add-on/", import.meta.url));

export interface AddOnOptions {
  /** The folder for the new files, relative to the app's folder. @default `signals` in the folder of its sources */
  into?: string | undefined;
  /** Whether existing files with the names of the new files are replaced. */
  force?: boolean | undefined;
  /** @default the package manager of the app */
  packageManager?: PackageManager | undefined;
  /** What the printed install command installs: a name, name and version, or a path. @default "signalbox" */
  signalbox?: string | undefined;
}

/**
 * Plans the files of the add-on for the Express app in a folder. Writes nothing.
 *
 * @param appDir the folder of the app's `package.json`
 * @throws CliError when there is no Express app, or when one of the files exists and `force` is not set
 */
export function planAddOn(appDir: string, options: AddOnOptions = {}): AddOnPlan {
  const { into, force = false, signalbox = "signalbox" } = options;
  const folder = readAppFolder(appDir);
  const detected = detectApp(folder);
  const app = { ...detected, packageManager: options.packageManager ?? detected.packageManager };
  const target = into === undefined ? posix.join(app.sourceFolder, "signals") : targetFolder(into);
  const { router, onSignal, test } = renderFiles(app, target);
  const files = [router, onSignal, test];
  const taken = files.find(({ path }) => existsSync(join(folder.directory, path)));
  if (taken !== undefined && !force) {
    throw usageError(
      `${echoed(taken.path)} exists already: give --force to replace it, or name another folder with --into`,
    );
  }
  const { language, modules, testRunner, packageManager } = app;
  const plan = {
    app: { language, modules, testRunner, packageManager },
    files,
    edits: linesToAdd(app, folder.sources, posix.join(target, "router")),
    commands: {
      cd: cdCommand(folder.directory),
      install: installCommands(app, folder.manifest, signalbox),
      test: testCommand(app, test.path),
      secret: `node -p "'whsec_' + crypto.randomUUID()" >> ${SECRET_FILE} && chmod 600 ${SECRET_FILE}`,
      send: `${EXEC[packageManager]} signalbox send traffic_breakout --url http://localhost:3000${MOUNT_PATH}`,
      register: `${EXEC[packageManager]} signalbox register --all-types --url https://hooks.example${MOUNT_PATH}`,
    },
    environment: ENVIRONMENT,
    notes: notesFor(app, folder.manifest, test.path),
  };
  return { ...plan, nextSteps: describeAddOn(plan) };
}

/** The default of the template, and of `send` and `register`. */
const SECRET_FILE = "signals.secret";

const ENVIRONMENT: AddOnPlan["environment"] = [
  { name: "SIGNALS_DB", value: "signals.db", what: "the inbox" },
  { name: "SIGNALS_SECRET_FILE", value: SECRET_FILE, what: "the signing secrets, one on each line" },
];

/** Characters that an import cannot hold without an escape. */
const UNQUOTABLE = /["'`$\p{Cc}\u2028\u2029]/u;

/** The folder that the user named, with `/` as the separator. A folder outside the app is an error. */
function targetFolder(into: string): string {
  const folder = posix.normalize(into.replaceAll("\\", "/")).replace(/\/$/, "");
  const isOutside = isAbsolute(into) || folder === ".." || folder.startsWith("../");
  if (!isOutside && !UNQUOTABLE.test(folder)) return folder;
  throw usageError(`--into ${echoed(into)}: name a folder inside the app, such as src/signals`);
}

function renderFiles(app: App, target: string): Record<"router" | "onSignal" | "test", PlannedFile> {
  const { extension, isLazy, isRequiring, language, testRunner, importExtension, expressImport } = app;
  const isVitest = testRunner === "vitest";
  const testModule = isVitest ? "vitest" : isLazy || testRunner === "node" ? "node:test" : null;
  const file = (template: string, name: string, isCommonJs = isRequiring): PlannedFile => {
    const content = renderSource(readFileSync(`${TEMPLATES}${template}.ts`, "utf8"), {
      isTypeScript: language === "typescript",
      isCommonJs,
      importExtension,
      expressImport,
      testModule,
    });
    return { path: posix.join(target, `${name}${extension}`), content };
  };
  return {
    router: file("router", "router"),
    onSignal: file("on-signal", "on-signal"),
    // Jest runs each file named *.test, and in a lazy app it cannot load signalbox, so there the test has another name. Vitest
    // cannot be loaded with `require`, so its test uses `import` even in a CommonJS app.
    test: file("router.test", isLazy ? "router.check" : "router.test", isRequiring && !isVitest),
  };
}
