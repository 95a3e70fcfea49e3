import { format } from "prettier";

export interface BenchTable {
  title: string;
  /** The first column names the row, the others hold figures. */
  columns: readonly string[];
  rows: readonly { cells: readonly string[]; isOurs: boolean }[];
  notes: readonly string[];
  /** When and where: written once for neighbouring tables of one run. */
  measured: string;
}

const BEGIN = "<!-- bench -->";
const END = "<!-- /bench -->";

/**
 * The page with these tables between its two markers. The rest stays as it was.
 *
 * @throws Error when the markers are missing
 */
export async function withBenchTables(page: string, tables: readonly BenchTable[]): Promise<string> {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the page has no ${BEGIN} before a ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${await renderTables(tables)}\n\n${page.slice(end)}`;
}

/** Markdown, formatted as `npm run format` would. */
export async function renderTables(tables: readonly BenchTable[]): Promise<string> {
  const source = tables.map((table, index) => {
    const isLast = tables[index + 1]?.measured !== table.measured;
    return renderTable(table, isLast ? [...table.notes, table.measured] : table.notes);
  });
  return (await format(source.join("\n\n"), { parser: "markdown", printWidth: 120 })).trim();
}

function renderTable({ title, columns, rows }: BenchTable, notes: readonly string[]): string {
  const table = [
    columns,
    columns.map((_, column) => (column === 0 ? ":--" : "--:")),
    ...rows.map(({ cells, isOurs }) => cells.map((cell, column) => (isOurs && column === 0 ? `**${cell}**` : cell))),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  return [`**${title}**`, ...(rows.length === 0 ? [] : [table.join("\n")]), notes.join("\n")].join("\n\n");
}
