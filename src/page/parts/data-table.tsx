import type { ComponentChildren } from "preact";
import { Loaded } from "./panel.js";
import type { Data } from "./use-data.js";

export interface Column<Row> {
  label: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the end of their column. */
  align?: "end";
  /** Takes the width that others leave. */
  grows?: boolean;
  /** Its words are short, so that no line ends within them. */
  whole?: boolean;
  /** Where the page is narrow, it stands in the first line of its row, without its label. */
  leads?: boolean;
}

interface DataTableProps<Row> {
  /** Says what the rows are, to a screen reader. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** Instead of a table without rows. */
  empty: string;
  /** Each row is one line: what is longer is cut, with an ellipsis. */
  lines?: boolean;
  /** Called when a row is clicked anywhere but on a control. */
  onOpen?: (row: Row) => void;
  /** Marks the rows that the reader has chosen. */
  isSelected?: (row: Row) => boolean;
}

/** A table that becomes a stack of labelled lines where the page is narrow. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  lines = false,
  onOpen,
  isSelected,
}: DataTableProps<Row>) {
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  const open = (event: MouseEvent, row: Row): void => {
    // A text that was just marked is to be copied.
    if (
      (event.target as Element).closest("a, button, input") === null &&
      getSelection()?.toString() === ""
    )
      onOpen?.(row);
  };
  // Roles by name, because a table that is not displayed as one loses its own.
  return (
    <table class={lines ? "data lines" : "data"} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.label} role="columnheader" scope="col" class={classOf(column)}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            role="row"
            class={isSelected?.(row) ? "selected" : undefined}
            onClick={(event) => open(event, row)}
          >
            {columns.map((column) => (
              <td key={column.label} role="cell" class={classOf(column)} data-label={column.label}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf<Row>({ align, grows, whole, leads }: Column<Row>): string | undefined {
  return (
    [align, grows && "grows", whole && "whole", leads && "leads"].filter(Boolean).join(" ") ||
    undefined
  );
}

type ListProps<Row> = Omit<DataTableProps<Row>, "rows"> & {
  from: Data<{ items: readonly Row[] }>;
  /** The last item is the first row. */
  isReversed?: boolean;
};

/** A table of what was loaded, or why that failed. */
export function List<Row>({ from, isReversed = false, ...table }: ListProps<Row>) {
  return (
    <Loaded from={from}>
      {({ items }) => <DataTable rows={isReversed ? items.toReversed() : items} {...table} />}
    </Loaded>
  );
}
