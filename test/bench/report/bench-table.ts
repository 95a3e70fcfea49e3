/** A table, before anybody knows whether a terminal or a README shows it. */
export interface BenchTable {
  title: string;
  /** The first is what the row is about; the others are figures. */
  columns: readonly string[];
  rows: readonly BenchRow[];
  notes: readonly string[];
  /** When and on what: said once for tables that follow each other and have it in common. */
  measured: string;
}

/** The tables, each with the notes that stand under it. */
export function withProvenance(tables: readonly BenchTable[]): BenchTable[] {
  return tables.map((table, index) => {
    const isLast = tables[index + 1]?.measured !== table.measured;
    return isLast ? { ...table, notes: [...table.notes, table.measured] } : table;
  });
}

export interface BenchRow {
  cells: readonly string[];
  isOurs: boolean;
  /** From 0 to 1: how long its bar is, where there is room for bars. */
  share?: number;
}
