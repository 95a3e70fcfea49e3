import { format } from "prettier";
import { PARTS, type Part } from "../options.js";
import { spread } from "../statistics.js";
import { formatCount } from "./format.js";

export interface BenchTable {
  title: string;
  /**
   * The Markdown of the head and of each row. The first column names the row, the others hold
   * figures.
   */
  head: string;
  rows: readonly string[];
  notes: readonly string[];
}

/** What a chart shows of a part. */
export interface BenchChart {
  /** `value` is the median of the rounds. `text` stands behind the bar. */
  bars: readonly {
    label: string;
    value: number;
    least: number;
    most: number;
    text: string;
    isOurs: boolean;
  }[];
  note: string;
}

/** @param figures one for each round */
export function barOf(figures: readonly number[]) {
  const { median, min, max } = spread(figures);
  const value = Math.round(median);
  return { value, least: Math.round(min), most: Math.round(max), text: formatCount(value) };
}

/** What a part found, as the documents show it. */
export interface PartFindings {
  tables: readonly BenchTable[];
  chart?: BenchChart;
}

/**
 * The result of a run, as `--json` prints it and `result.json` keeps it. A part that did not run is
 * left out.
 */
export type BenchResult = Partial<Record<Part, PartFindings & { measured: string }>>;

export type Column<Row> = readonly [head: string, cell: (row: Row) => string];

export function makeTable<Row>(
  title: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  notes: readonly string[],
): BenchTable {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return {
    title,
    head: line(columns.map(([head]) => head)),
    rows: rows.map((row) => line(columns.map(([, cell]) => cell(row)))),
    notes,
  };
}

/**
 * Markdown, formatted as `npm run format` would. When and where is written once for neighbouring
 * parts of one run.
 */
export async function renderTables(result: BenchResult): Promise<string> {
  const parts = PARTS.flatMap((part) => result[part] ?? []);
  const tables = parts.flatMap(({ tables: own, measured }, index) => {
    const isLast = parts[index + 1]?.measured !== measured;
    return own.map((table, at) =>
      renderTable(table, isLast && at === own.length - 1 ? [measured] : []),
    );
  });
  return (await format(tables.join("\n\n"), { parser: "markdown", printWidth: 120 })).trim();
}

function renderTable(
  { title, head, rows, notes }: BenchTable,
  measured: readonly string[],
): string {
  const alignment = `| :-- |${" --: |".repeat(head.split(" | ").length - 1)}`;
  const table = rows.length === 0 ? [] : [[head, alignment, ...rows].join("\n")];
  return [`**${title}**`, ...table, [...notes, ...measured].join("\n")].join("\n\n");
}
