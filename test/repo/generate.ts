import { readFileSync } from "node:fs";
import { format } from "prettier";
import { renderTables, type BenchResult } from "../bench/report/tables.js";
import { NUMBERS, TABLES, type TableFacts } from "./facts.js";
import { cellsOf, codesIn } from "./markdown.js";

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Stands where a person has to write something. */
export const TO_WRITE = "TO WRITE";

/**
 * A document with the facts of the code in it, and otherwise as it is. The code gives:
 *
 * - the rows of the table behind `<!-- table: NAME -->`, and some of their cells; the words in the
 *   others stay;
 * - the number in front of `<!-- NAME -->`;
 * - all from `<!-- bench -->` to `<!-- /bench -->`.
 */
export async function generate(path: string): Promise<string> {
  const blocks: Record<string, () => string | Promise<string>> = {
    bench: () => renderTables(JSON.parse(read("test/bench/result.json")) as BenchResult),
  };
  let page = read(path);
  for (const [name, text] of Object.entries(blocks)) {
    const marked = new RegExp(`(?<=<!-- ${name} -->\n\n).*?(?=\n\n<!-- /${name} -->)`, "s");
    if (marked.test(page)) page = page.replace(marked, escaped(await text()));
  }
  for (const [table, name = ""] of page.matchAll(/(?<=<!-- table: ([\w-]+) -->\n\n)(?:\|.*\n)+/g)) {
    page = page.replace(table, escaped(fillTable(table, await named(TABLES, name)())));
  }
  page = page.replaceAll(/[\d.]+(?=<!-- ([\w.]+) -->)/g, (_number, name: string) =>
    String(named(NUMBERS, name)),
  );
  return page === read(path) ? page : format(page, { parser: "markdown", printWidth: 100 });
}

const escaped = (text: string): string => text.replaceAll("$", "$$$$");

function named<Value>(all: Readonly<Record<string, Value>>, name: string): Value {
  const found = all[name];
  if (found === undefined)
    throw new Error(`a document has the marker ${name}, and test/repo/facts.ts has not`);
  return found;
}

/** Rows keep their order. A row whose name is gone goes, and a new name gets one at the end. */
function fillTable(table: string, { names, cells = () => [], nameColumn = 0 }: TableFacts): string {
  const [head = [], alignment = [], ...rows] = table.trim().split("\n").map(cellsOf);
  const kept = rows.filter((row) => namesIn(row[nameColumn]).every((name) => names.includes(name)));
  const present = new Set(kept.flatMap((row) => namesIn(row[nameColumn])));
  const added = names
    .filter((name) => !present.has(name))
    .map((name) => head.map((_, column) => (column === nameColumn ? `\`${name}\`` : TO_WRITE)));
  const filled = [...kept, ...added].map((row) => {
    const facts = cells(namesIn(row[nameColumn])[0] ?? "");
    return row.map((cell, column) => facts[column] ?? cell);
  });
  if (JSON.stringify(filled) === JSON.stringify(rows)) return table;
  return [head, alignment, ...filled].map((row) => `| ${row.map(toCell).join(" | ")} |\n`).join("");
}

const toCell = (text: string): string => text.replaceAll("|", "\\|");

/** `` `get(id)`, `list(query)` `` names `get` and `list`; a cell without code is one name. */
function namesIn(cell = ""): string[] {
  const [codes] = /^`[^`]+`(?:, `[^`]+`)*/.exec(cell) ?? [];
  if (codes === undefined) return [cell];
  return codesIn(codes).map((code) => code.replace(/\(.*$/, ""));
}
