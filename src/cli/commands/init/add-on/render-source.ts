/** The properties of an app that decide how its new files are written. */
export interface Rendering {
  isTypeScript: boolean;
  /** Whether the new files use `require` and `module.exports`. */
  isCommonJs: boolean;
  /** The extension that the new files write when they import each other. */
  importExtension: string;
  /** The line that imports Express. */
  expressImport: string;
  /** The module that exports `it`; `null` if `it` is a global of the test runner. */
  testModule: "node:test" | "vitest" | null;
}

/**
 * Translates a template of `templates/add-on` into the language, module system and test runner of an app. The templates are
 * type-checked TypeScript with ES modules and `node:test`. This function handles only the syntax that these templates use.
 */
export function renderSource(template: string, rendering: Rendering): string {
  const { isTypeScript, isCommonJs, importExtension, expressImport, testModule } = rendering;
  const runs = template
    .replace(/^import express .+$/m, expressImport)
    .replaceAll(/"(\.\/[\w-]+)\.js"/g, `"$1${importExtension}"`)
    .replace(/^(import .+ from )"node:test";\n/m, testModule === null ? "" : `$1"${testModule}";\n`)
    // The template writes `void it(…)`, because linters want `void` before a promise that is not awaited. Only the `it` of
    // `node:test` returns a promise, so for other test runners the `void` is removed.
    .replaceAll(/^void /gm, isTypeScript && testModule === "node:test" ? "void " : "");
  const text = isTypeScript ? runs : toJavaScript(runs);
  return isCommonJs ? toCommonJs(text) : text;
}

/** Parameter types of exported functions become JSDoc. All other types are removed. */
function toJavaScript(text: string): string {
  const modules = new Map<string, string>();
  const untyped = text
    .replaceAll(/^import (type )?\{ (.+) \} from "(.+)";\n/gm, (line, isType, names: string, module: string) => {
      const values = names.split(", ").filter((name) => isType === undefined && !name.startsWith("type "));
      for (const name of names.split(", ")) modules.set(name.replace("type ", ""), module);
      return values.length === 0 ? "" : line.replace(names, values.join(", "));
    })
    .replaceAll(/^type (\w+) = .+;\n/gm, (_line, name: string) => {
      modules.set(name, "");
      return "";
    })
    .replaceAll(/ \*\/\nexport function \w+\((.+)\)/g, (end, parameters: string) => {
      const tags = parameters.split(", ").map((parameter) => {
        const [name = "", type = ""] = parameter.split(": ");
        return ` * @param {import("${modules.get(type)}").${type}} ${name}\n`;
      });
      return ` *\n${tags.join("")}${end}`;
    });
  const types = ["string", ...modules.keys()].join("|");
  return untyped
    .replaceAll(new RegExp(`(?::| as) (?:${types})(?:\\[\\])?(?=[,;)])`, "g"), "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimStart();
}

function toCommonJs(text: string): string {
  const names: string[] = [];
  const body = text
    .replaceAll(/^import (.+) from (".+");$/gm, "const $1 = require($2);")
    .replaceAll(/^export (function|const) (\w+)/gm, (_export, kind: string, name: string) => {
      names.push(name);
      return `${kind} ${name}`;
    });
  return names.length === 0 ? body : `${body}\nmodule.exports = { ${names.join(", ")} };\n`;
}
