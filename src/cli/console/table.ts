import { widthOf } from "./wrap.js";

/** Lines with aligned columns and two spaces between them. Cells can have colours. */
export function formatTable(
  rows: readonly (readonly string[])[],
  leastWidths: readonly number[] = [],
): string[] {
  const widths = [...leastWidths];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return rows.map((row) => {
    const padded = row.map(
      (cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)),
    );
    return padded.join("  ").trimEnd();
  });
}
