import { format } from "prettier";
import { withProvenance, type BenchTable } from "./bench-table.js";

/** As the README has them, formatted as `npm run format` would. */
export async function renderMarkdown(tables: readonly BenchTable[]): Promise<string> {
  return (
    await format(withProvenance(tables).map(renderTable).join("\n\n"), { parser: "markdown", printWidth: 120 })
  ).trim();
}

function renderTable({ title, columns, rows, notes }: BenchTable): string {
  const table = [
    columns,
    columns.map((_, column) => (column === 0 ? ":--" : "--:")),
    ...rows.map(({ cells, isOurs }) => cells.map((cell, column) => (isOurs && column === 0 ? `**${cell}**` : cell))),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  return [`**${title}**`, ...(rows.length === 0 ? [] : [table.join("\n")]), notes.join("\n")].join("\n\n");
}
