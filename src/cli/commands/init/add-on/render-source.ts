/** How a template is written for an app. */
export interface Rendering {
  isTypeScript: boolean;
  /** Write `require` and `module.exports`. */
  isCommonJs: boolean;
  /** What imports of the app's own files end with. */
  importExtension: string;
  /** The line that imports Express. */
  expressImport: string;
  /** Where `it` is imported from; `null` where the test runner has it as a global. */
  testModule: "node:test" | "vitest" | null;
}

/**
 * A template of `templates/add-on` in the language, the module system and the test runner of an app. The templates are
 * TypeScript that a compiler checks, with ES modules and `node:test`; this knows only the forms that they use.
 */
export function renderSource(template: string, rendering: Rendering): string {
  const { isTypeScript, isCommonJs, importExtension, expressImport, testModule } = rendering;
  const runs = template
    .replace(/^import express .+$/m, expressImport)
    .replaceAll(/"(\.\/[\w-]+)\.js"/g, `"$1${importExtension}"`)
    .replace(/^(import .+ from )"node:test";\n/m, testModule === null ? "" : `$1"${testModule}";\n`)
    // Linters want `void` before a promise that is not awaited, and only `node:test` returns one.
    .replaceAll(/^void /gm, isTypeScript && testModule === "node:test" ? "void " : "");
  const text = isTypeScript ? runs : toJavaScript(runs);
  return isCommonJs ? toCommonJs(text) : text;
}

/** Types of exported functions become JSDoc. All other types are left out. */
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
