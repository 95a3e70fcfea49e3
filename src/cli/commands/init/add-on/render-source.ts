/** What a piece of a template may be for. */
export type Condition = "ts" | "js" | "nodetest" | "vitest";

export interface Rendering {
  /** The pieces that stay. */
  conditions: ReadonlySet<Condition>;
  /** What stands for `{{name}}`. */
  values: Readonly<Record<string, string>>;
  /** Write `require` and `module.exports` for `import` and `export`. */
  isCommonJs: boolean;
}

const PIECE = /\{\{([\w+]+)(?: ([^]*?))?\}\}/g;

/**
 * A template's text in one language. `{{ts : Signal}}` stays in TypeScript alone, `{{ts+vitest …}}` where both hold; a line
 * that holds nothing but pieces that go goes with them. `{{ext}}` is a value.
 */
export function renderSource(template: string, { conditions, values, isCommonJs }: Rendering): string {
  const lines = template.split("\n").flatMap((line) => {
    const rendered = line.replaceAll(PIECE, (_piece, name: string, text: string | undefined) => {
      if (text === undefined) return values[name] ?? "";
      return name.split("+").every((condition) => conditions.has(condition as Condition)) ? text : "";
    });
    return rendered.trim() === "" && line.trim() !== "" ? [] : [rendered];
  });
  const text = lines.join("\n").trimStart();
  return isCommonJs ? toCommonJs(text) : text;
}

/** Only what the templates hold: imports of one line, and exports of functions and constants. */
function toCommonJs(text: string): string {
  const names: string[] = [];
  const body = text
    .replaceAll(/^import (.+) from (".+");$/gm, "const $1 = require($2);")
    .replaceAll(/^export ((?:async )?function|const) (\w+)/gm, (_export, kind: string, name: string) => {
      names.push(name);
      return `${kind} ${name}`;
    });
  return names.length === 0 ? body : `${body}\nmodule.exports = { ${names.join(", ")} };\n`;
}
