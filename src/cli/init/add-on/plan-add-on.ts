import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, posix, resolve } from "node:path";
import { recordOf, type SenderName } from "../../../kit/senders/records.js";
import { usageError } from "../../console/exit.js";
import { echoed, printable, cdCommand, shellQuote } from "../../console/terminal.js";
import { fillTemplate, marksFor, type Marks } from "../fill-template.js";
import { PACKAGE_FOLDER, HABITS, type PackageManager } from "../signalbox-package.js";
import type { Store } from "../templates.js";
import { readApp, type App, EXPRESS_CALL } from "./read-app.js";

const TEMPLATES = join(PACKAGE_FOLDER, "templates", "add-on");

interface AddOnOptions {
  store: Store;
  sender: SenderName | undefined;
  into: string | undefined;
  force: boolean;
  packageManager: PackageManager | undefined;
  signalbox: string;
}

/**
 * Writes nothing. @throws CliError when there is no Express app, or a file exists and `force` is
 * not set
 */
export function planAddOn(
  folder: string,
  { store, sender, into, force, packageManager, signalbox }: AddOnOptions,
) {
  const directory = resolve(folder);
  const isPostgres = store === "postgres";
  const app = readApp(directory);
  const marks = marksFor(sender);
  const { sender: name = "", receiver = "", handlerFile = "" } = marks.values;
  const mountPath = `/webhooks/${name}`;
  const target = into === undefined ? posix.join(app.sourceFolder, name) : insideApp(into);
  const test = testIn(app, target, existsSync(join(directory, "test")));
  const file = (template: string, path: string) => ({
    path: path + app.extension,
    content: render(template, app, marks, posix.relative(posix.dirname(path), target)),
  });
  const own = (path: string, template = path) => file(template, posix.join(target, path));
  const files = [
    own("router"),
    own(handlerFile, "on-signal"),
    own("store", isPostgres ? "postgres-store" : "store"),
    file("router.test", test),
  ];
  const taken = files.find(({ path }) => existsSync(join(directory, path)));
  if (taken !== undefined && !force) {
    throw usageError(
      `${echoed(taken.path)} exists already: give --force, or name another folder with --into`,
    );
  }
  const edits = linesToAdd(app, { receiver, mountPath, router: posix.join(target, "router") });
  const { exec, add } = HABITS[packageManager ?? app.packageManager];
  const forNode = app.isTypeScript ? "npx tsx --test" : "node --test";
  const forRunner = `${exec} ${app.testRunner}${app.testRunner === "vitest" ? " run" : ""}`;
  const runTest = `${app.usesNodeTest ? forNode : forRunner} ${shellQuote(test + app.extension)}`;
  const url = `http://localhost:${app.port ?? 3000}${mountPath}`;
  const published = `https://hooks.example${mountPath}`;
  const secretFile = `${name}.secret`;
  // All senders take a secret of this form.
  const random = `'whsec_' + crypto.randomBytes(24).toString('base64')`;
  const secret = `node -p "${random}" >> ${secretFile} && chmod 600 ${secretFile}`;
  const install = `${add} ${signalbox}${isPostgres ? " pg" : ""}`;
  const hint = app.port === undefined ? "; use its port" : "";
  const database = isPostgres ? " with your database as DATABASE_URL" : "";
  const cd = cdCommand(directory);
  const steps = [
    {
      purpose: "Install the packages, in the app's folder",
      lines: typed(...(cd === null ? [] : [cd]), install),
    },
    ...edits,
    { purpose: "Run the receiver's test", lines: typed(runTest) },
    {
      purpose: `Start the app${database}, and send it ${marks.values["anEvent"]}${hint}`,
      lines: typed(secret, `${exec} signalbox send ${sampleOf(sender, url)} --url ${url}`),
    },
    sender === undefined
      ? {
          purpose: "Register the deployed app, in its folder. This adds the secrets",
          lines: typed(`${exec} signalbox register --all-types --url ${published}`),
        }
      : {
          purpose: `Add the deployed app at the sender (${recordOf(sender).page}), and put the secret into ${secretFile}`,
          lines: [published],
        },
    {
      purpose: "Keep these files out of git, in .gitignore",
      lines: isPostgres ? ["*.secret"] : ["*.secret", `${name}.db*`],
    },
  ];
  const nextSteps = steps.flatMap(({ purpose, lines }, i) => [
    "",
    `${i + 1}. ${purpose}:`,
    ...lines.map(shown),
  ]);
  return { files, edits, nextSteps };
}

const typed = (...commands: string[]): string[] => commands.map((command) => `$ ${command}`);
const shown = (line: string): string => `     ${printable(line)}`;

/** What `signalbox send` sends to the app on this machine. */
function sampleOf(sender: SenderName | undefined, url: string): string {
  if (sender === undefined) return "traffic_breakout";
  const address = "publicUrl" in recordOf(sender).needs ? ` --public-url ${url}` : "";
  return `sample --sender ${sender} --secret-file ${sender}.secret${address}`;
}

/**
 * @throws CliError for a folder outside the app, and for characters that an import cannot hold
 * without an escape
 */
function insideApp(into: string): string {
  const folder = posix.normalize(into.replaceAll("\\", "/")).replace(/\/$/, "");
  const isOutside = isAbsolute(into) || folder === ".." || folder.startsWith("../");
  if (!isOutside && !/["'`$\p{Cc}\u2028\u2029]/u.test(folder)) return folder;
  throw usageError(`--into ${echoed(into)}: name a folder inside the app, such as src/signals`);
}

/**
 * Where the app has its tests, named as they are; without an extension. Jest must not run a test
 * that it cannot load.
 */
function testIn({ isLazy, ownTest = "" }: App, target: string, hasTestFolder: boolean): string {
  if (isLazy) return posix.join(target, "router.check");
  if (ownTest === "" && hasTestFolder) return `test/${posix.basename(target)}.test`;
  const [, folder, suffix] =
    /^(.*?\b(?:tests?|__tests__|spec)\/)?.*?([.-](?:test|spec))?\.\w+$/.exec(ownTest) ?? [];
  if (folder === undefined) return posix.join(target, `router${suffix ?? ".test"}`);
  return `${folder}${posix.basename(target)}${suffix ?? ""}`;
}

/** What only TypeScript has. In the templates no other text looks like the type of a parameter. */
const TYPES =
  /^(import )?type [^;]+;\n+|, type \w+|: (string|[A-Z]\w+|Record<string, unknown>)(?=[,)])/gm;

/**
 * Translates a template: TypeScript with ES modules and `node:test`. `folder` has the other new
 * files, seen from this one.
 */
function render(template: string, app: App, marks: Marks, folder: string): string {
  const { isTypeScript, isRequiring, testRunner, importExtension, usesNodeTest } = app;
  const up = folder.startsWith("..") ? "" : "./";
  const text = fillTemplate(readFileSync(join(TEMPLATES, `${template}.ts`), "utf8"), marks)
    .replaceAll(/"\.\/([\w-]+)\.js"/g, `"${up}${posix.join(folder, "$1")}${importExtension}"`)
    .replace(
      /^(import .+ from )"node:test";\n/m,
      usesNodeTest ? "$&" : testRunner === "vitest" ? '$1"vitest";\n' : "",
    )
    // Linters of TypeScript want `void` before the promise of `node:test`.
    .replaceAll(/^void /gm, isTypeScript && usesNodeTest ? "void " : "");
  const plain = isTypeScript ? text : text.replaceAll(TYPES, "");
  // Vitest cannot be loaded with `require`.
  if (!isRequiring || (template === "router.test" && testRunner === "vitest")) return plain;
  const names = [...plain.matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name);
  const required = plain
    .replaceAll(/^import (.+) from (".+");$/gm, "const $1 = require($2);")
    .replaceAll(/^export /gm, "");
  return names.length === 0 ? required : `${required}\nmodule.exports = { ${names.join(", ")} };\n`;
}

/** A line that makes the app and does nothing else. */
const CREATION = new RegExp(
  `^\\s*(?:export )?(?:(?:const|let|var) )?((?:this\\.)?[\\w$]+)(?:: \\w+)? = ${EXPRESS_CALL.source};$`,
);

/**
 * What the developer adds to the app, in this order. The file and the line are named only where
 * there is no doubt: if the app is made once, on a line of its own.
 *
 * @param names what the new router exports, where it is mounted, and its path from the app's
 * folder, without its extension
 */
function linesToAdd(
  { creations, isLazy, isRequiring, importExtension, handlesSigterm }: App,
  { receiver, mountPath, router }: { receiver: string; mountPath: string; router: string },
) {
  const [first] = creations;
  const found = creations.length === 1 ? CREATION.exec(first?.text ?? "") : null;
  const place = found && first ? { file: first.file, line: first.line, at: found[0].trim() } : null;
  const [, variable = "app"] = found ?? [];

  const path = posix.relative(posix.dirname(first?.file ?? "app"), router);
  const module = `"${path.startsWith(".") ? path : `./${path}`}${importExtension}"`;
  const load = `import(${module}).then(({ ${receiver} }) => ${receiver}.`;
  const call = (method: string): string =>
    isLazy ? `${load}${method}())` : `${receiver}.${method}()`;
  const text = isRequiring
    ? `const { ${receiver} } = require(${module});`
    : `import { ${receiver} } from ${module};`;
  const use = `${variable}.use("${mountPath}", `;
  const mount = isLazy
    ? [`${use}(req, res, next) => {`, `  ${load}router(req, res, next), next);`, `});`]
    : [`${use}${receiver}.router);`];
  const start = [
    `${call("start")}.catch((error) => {`,
    "  console.error(error);",
    "  process.exit(1);",
    "});",
  ];
  const close = handlesSigterm
    ? [
        "// In the function that runs at SIGTERM, before process.exit(). It has to be async:",
        `await ${call("close")};`,
      ]
    : [
        'process.once("SIGTERM", () => {',
        `  ${call("close")}.then(() => process.exit(0), () => process.exit(1));`,
        "});",
      ];
  const line =
    place === null ? "the line that makes your app" : `line ${place.line} (${echoed(place.at)})`;
  const where = `below ${line}${place === null ? "" : ` of ${echoed(place.file)}`}`;
  return [
    ...(isLazy
      ? []
      : [
          {
            purpose: "Import the receiver in the file that makes your app",
            place: null,
            lines: [text],
          },
        ]),
    {
      purpose: `Mount it in front of all body parsers, for the exact bytes are signed: ${where}`,
      place,
      lines: mount,
    },
    { purpose: "Start it where your app starts to listen", place: null, lines: start },
    { purpose: "Close it at SIGTERM", place: null, lines: close },
  ];
}
