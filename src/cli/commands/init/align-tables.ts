/** Markdown whose tables are lined up again, after words in them became longer or shorter. */
export function alignTables(text: string): string {
  return text.replaceAll(/(?:^\|.*\|\n)+/gm, (table) => {
    const rows = table
      .trimEnd()
      .split("\n")
      .map((line) =>
        line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim()),
      );
    const widths = (rows[0] ?? []).map((_, column) =>
      Math.max(...rows.map((row) => (isRule(row[column] ?? "") ? 3 : (row[column] ?? "").length))),
    );
    const lines = rows.map((row) => row.map((cell, column) => padded(cell, widths[column])));
    return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
  });
}

function isRule(cell: string): boolean {
  return /^-+$/.test(cell);
}

function padded(cell: string, width = 0): string {
  return isRule(cell) ? "-".repeat(width) : cell.padEnd(width);
}
