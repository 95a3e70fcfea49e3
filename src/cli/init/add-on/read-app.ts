import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../../console/exit.js";
import { echoed } from "../../console/terminal.js";
import { HABITS, PACKAGE_MANAGERS } from "../signalbox-package.js";

export const EXPRESS_CALL = /(?<![\w$.])(?:express|require\(["']express["']\))\s*\(\s*\)/;

const SOURCE = /\.[cm]?[jt]s$|^www$/;
const TEST = /(^|\/)(tests?|__tests__|spec)\/|[.-](test|spec)\.[cm]?[jt]s$/;
const NOT_READ =
  /^(\.|node_modules$|dist$|build$|out$|coverage$|public$|static$|fixtures$)|\.d\.[cm]?ts$|\.config\./;
const PORT = /(?:\bPORT\b["'\]]*\s*(?:\?\?|\|\|)\s*|\.listen\(|\bconst (?:port|PORT) = )["']?(\d+)/;

export type App = ReturnType<typeof readApp>;

/** @throws CliError when the folder has no Express app */
export function readApp(directory: string) {
  const { type, scripts, ...groups } = readManifest(directory);
  const packages = Object.keys({ ...groups.dependencies, ...groups.devDependencies });
  if (!packages.includes("express")) {
    throw usageError(
      "its package.json does not depend on express: name the folder of your Express app",
    );
  }
  const files = filesIn(directory);
  const lines = files.flatMap((file) => {
    if (TEST.test(file)) return [];
    const texts = textOf(directory, file).split(/\r?\n/);
    return texts.map((text, index) => ({ file, line: index + 1, text }));
  });
  /** Without lines that begin as a comment. */
  const linesWith = (pattern: RegExp) =>
    lines.filter(({ text }) => pattern.test(text) && !/^\s*(\/[/*]|\*)/.test(text));

  const creations = linesWith(EXPRESS_CALL);
  const entry = creations[0]?.file ?? lines[0]?.file ?? "";
  const extension =
    /\.[cm]?[jt]s$/.exec(entry)?.[0] ?? (packages.includes("typescript") ? ".ts" : ".js");
  const isTypeScript = extension.endsWith("ts");
  // If `package.json` has no `type`, Node 22 runs a JavaScript file that has imports as an ES
  // module.
  const hasImports = !isTypeScript && type === undefined && linesWith(/^import\s[^(]/).length > 0;
  const isEsm =
    extension.startsWith(".m") ||
    (!extension.startsWith(".c") && (type === "module" || hasImports));
  const named = [scripts?.["test"], ...packages].join(" ");
  const testRunner = /(?<![\w-])(vitest|jest|mocha)(?![\w-])/.exec(named)?.[1] ?? "node";
  // Jest cannot load ES modules in this app, and signalbox is one.
  const isLazy =
    testRunner === "jest" &&
    !(isEsm && JSON.stringify(scripts).includes("--experimental-vm-modules"));
  // There `import()` needs an extension, also in a CommonJS file.
  const resolvesAsNode = /"module"\s*:\s*"node/i.test(textOf(directory, "tsconfig.json"));
  const hasLock = (file: string): boolean => existsSync(join(directory, file));
  const packageManager =
    PACKAGE_MANAGERS.find((name) => HABITS[name].lockFiles.some(hasLock)) ?? "npm";
  const ports = new Set(linesWith(PORT).map(({ text }) => PORT.exec(text)?.[1]));
  return {
    extension,
    isTypeScript,
    isRequiring: !isTypeScript && !isEsm,
    /** With which the app imports its own files; empty for none. */
    importExtension:
      extension === ".ts" && !isEsm && !(isLazy && resolvesAsNode)
        ? ""
        : extension.replace("ts", "js"),
    testRunner,
    isLazy,
    usesNodeTest: isLazy || testRunner === "node",
    packageManager,
    /** The first folder of the sources; empty if they are in the app's folder itself. */
    sourceFolder: /^(?!bin\/)([^/]+)\//.exec(entry)?.[1] ?? "",
    ownTest: files.find((file) => TEST.test(file)),
    /** The `PORT` of `.env`, or the only default of the port in the sources. */
    port:
      /^\s*(?:export\s+)?PORT\s*=\s*["']?(\d+)/m.exec(textOf(directory, ".env"))?.[1] ??
      (ports.size === 1 ? [...ports][0] : undefined),
    creations,
    handlesSigterm: linesWith(/["'`]SIGTERM["'`]/).length > 0,
  };
}

function readManifest(directory: string) {
  type Groups = Partial<
    Record<"scripts" | "dependencies" | "devDependencies", Record<string, string>>
  >;
  try {
    return JSON.parse(textOf(directory, "package.json")) as Groups & { type?: string };
  } catch {
    // The parser's own message is not shown, because it may quote the file.
    const help = "name the folder of your Express app";
    throw usageError(`there is no package.json that can be read in ${echoed(directory)}: ${help}`);
  }
}

/** The content of a file; empty if there is none. */
function textOf(directory: string, file: string): string {
  const isFile = statSync(join(directory, file), { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? readFileSync(join(directory, file), "utf8") : "";
}

function filesIn(directory: string, folder = ""): string[] {
  return readdirSync(join(directory, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_READ.test(entry.name)) return [];
    if (entry.isDirectory()) return filesIn(directory, `${folder}${entry.name}/`);
    return entry.isFile() && SOURCE.test(entry.name) ? [folder + entry.name] : [];
  });
}
