import { styleText } from "node:util";
import { withProvenance, type BenchTable } from "./bench-table.js";

const BAR_WIDTH = 24;
const GAP = "  ";

/** @param isColoured whether somebody would see the colours */
export function renderTerminal(tables: readonly BenchTable[], isColoured: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    isColoured ? styleText(style, text, { validateStream: false }) : text;
  return withProvenance(tables)
    .map((table) => `${renderTable(table, paint)}\n`)
    .join("\n");
}

type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

function renderTable({ title, columns, rows, notes }: BenchTable, paint: Paint): string {
  const widths = columns.map((head, column) =>
    Math.max(head.length, ...rows.map(({ cells }) => (cells[column] ?? "").length)),
  );
  // Names to the left, figures to the right.
  const align = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join(GAP);
  const body = rows.map(({ cells, isOurs, share }) => {
    const text = isOurs ? paint("bold", align(cells)) : align(cells);
    return share === undefined ? text : `${text}${GAP}${paint(isOurs ? "green" : "dim", bar(share))}`;
  });
  return [
    paint(["bold", "underline"], title),
    ...(rows.length === 0 ? [] : [paint("dim", align(columns)), ...body]),
    ...notes.map((note) => paint("dim", note)),
  ]
    .map((line) => line.trimEnd())
    .join("\n");
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function bar(share: number): string {
  const eighths = Math.round(share * BAR_WIDTH * EIGHTHS.length);
  return "█".repeat(Math.floor(eighths / EIGHTHS.length)) + (EIGHTHS[eighths % EIGHTHS.length] ?? "");
}
