import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, posix, resolve } from "node:path";
import type { SenderName } from "../../../kit/senders/records.js";
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
  const { exec, add } = HABITS[packageManager ?? app.packageManager];
  const forNode = app.isTypeScript ? "npx --yes tsx --test" : "node --test";
  const forRunner = `${exec} ${app.testRunner}${app.testRunner === "vitest" ? " run" : ""}`;
  const url = `http://localhost:${app.port ?? 3000}${mountPath}`;
  const cd = cdCommand(directory);
  const { place, variable, file: madeIn } = placeOfMount(app);
  const path = posix.relative(posix.dirname(madeIn), posix.join(target, "router"));
  const module = `"${path.startsWith(".") ? path : `./${path}`}${app.importExtension}"`;
  const values = {
    ...marks.values,
    add,
    exec,
    signalbox,
    mountPath,
    url,
    module,
    cd: cd ?? "",
    app: variable,
    line:
      place === null
        ? "the line that makes your app"
        : `line ${place.line} (${echoed(place.at)}) of ${echoed(place.file)}`,
    load: app.isLazy ? `import(${module}).then(({ ${receiver} }) => ` : "",
    loaded: app.isLazy ? ")" : "",
    runTest: `${app.usesNodeTest ? forNode : forRunner} ${shellQuote(test + app.extension)}`,
    hint: app.port === undefined ? "; use its port" : "",
    sendAs: marks.values["publicUrl"] ? `--public-url ${url} ` : "",
  };
  const words = [
    ...marks.words,
    store,
    cd === null ? "here" : "elsewhere",
    app.isLazy ? "lazy" : "atOnce",
    app.isRequiring ? "requires" : "imports",
    app.handlesSigterm ? "stops" : "stopless",
  ];
  const steps = stepsIn(fillTemplate(textOf("steps.txt"), { ...marks, words, values }));
  return {
    files,
    edits: steps.flatMap(({ kind, purpose, lines }) =>
      kind === undefined ? [] : { purpose, place: kind === "mount" ? place : null, lines },
    ),
    nextSteps: steps.flatMap(({ purpose, lines }, i) => [
      "",
      `${i + 1}. ${purpose}:`,
      ...lines.map((line) => `     ${printable(line)}`),
    ]),
  };
}

const textOf = (template: string): string => readFileSync(join(TEMPLATES, template), "utf8");

/**
 * The steps of a text, with a blank line between them: the purpose, which begins with its kind if it
 * is a change of the app, and the lines to type or to add.
 */
function stepsIn(text: string) {
  const steps = text.trimEnd().split("\n\n");
  return steps.map((step) => {
    const [, kind, purpose = "", lines = ""] = /^(?:(edit|mount): )?(.*)\n([^]*)$/.exec(step) ?? [];
    return { kind, purpose, lines: lines.split("\n") };
  });
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
  const words = [...marks.words, usesNodeTest ? "nodeTest" : testRunner];
  const text = fillTemplate(textOf(`${template}.ts`), { ...marks, words })
    .replaceAll(/"\.\/([\w-]+)\.js"/g, `"${up}${posix.join(folder, "$1")}${importExtension}"`)
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
 * The line below which the router is mounted, and the variable of the app. The line is named only
 * where there is no doubt: if the app is made once, on a line of its own.
 */
function placeOfMount({ creations: [first, ...others] }: App) {
  const [found, variable = "app"] = (others.length === 0 && CREATION.exec(first?.text ?? "")) || [];
  const { file, line } = first ?? { file: "app", line: 0 };
  return { place: found === undefined ? null : { file, line, at: found.trim() }, variable, file };
}
