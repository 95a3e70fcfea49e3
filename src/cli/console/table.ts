import { widthOf } from "./wrap.js";

export interface Cell {
  text: string;
  paint?: (text: string) => string;
}

/** Lines with aligned columns and two spaces between them. The last column is not padded. */
export function formatTable(rows: readonly (readonly Cell[])[], leastWidths: readonly number[] = []): string[] {
  const widths = [...leastWidths];
  for (const row of rows) {
    row.forEach(({ text }, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(text));
    });
  }
  return rows.map((row) =>
    row
      .map(({ text, paint }, column) => {
        const padding = column === row.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - widthOf(text));
        return (paint === undefined ? text : paint(text)) + padding;
      })
      .join("  "),
  );
}
