import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { formatCount, formatMoment, formatTime as formatUtc } from "../../base/text/format.js";
import { formatTime, otherTime, shortTime } from "./clock-choice.js";
import { type Tone, usePage, useRoot } from "./page-frame.js";
import { problemText } from "./request.js";
import type { Data } from "./use-data.js";

interface PanelProps {
  title: string;
  /** Beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a view with its own heading. */
export function Panel({ title, actions, children }: PanelProps) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="view-head">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="toolbar">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** Names and what they stand for. One that is `false` is left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(([name, value]) =>
        value === false
          ? null
          : [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{shown(value)}</dd>],
      )}
    </dl>
  );
}

/** What was loaded, and why the newest load failed. */
export function Loaded<T>({
  from,
  children,
}: {
  from: Data<T>;
  children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      <Problem of={from.problem} />
      {from.data !== undefined && children(from.data)}
    </>
  );
}

/**
 * Why something failed, for the eye and for a screen reader. Nothing when `of` is undefined or
 * empty.
 */
export function Problem({ of, onRetry }: { of: unknown; onRetry?: () => void }) {
  if (of === undefined || of === "") return null;
  return (
    <p class="problem" role="alert">
      {problemText(of)}{" "}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  );
}

interface MomentProps {
  /** A date-time, or milliseconds since 1970. */
  at: number | string;
  /** Shows the date and the time too, which are a tooltip otherwise. */
  full?: boolean;
  /** Shows the time of day, or of another day its date too. */
  short?: boolean;
}

/** A time as seen from now: `4 min ago`, `in 2 h`. */
export function Moment({ at, full = false, short = false }: MomentProps) {
  const { now } = usePage();
  const ms = new Date(at).getTime();
  const time = formatTime(ms);
  // The page knows the server's time as it was at the last answer.
  const distance = Math.abs(ms - now) < 2000 ? "now" : formatMoment(ms, now);
  return (
    <time
      dateTime={formatUtc(ms).replace(" ", "T")}
      title={full ? otherTime(ms) : `${time}, ${otherTime(ms)}`}
    >
      {full ? `${time} ` : short ? shortTime(ms, now) : distance}
      {full && <span class="muted">({distance})</span>}
    </time>
  );
}

/** A state in a word or two. The word says it; the dot repeats it. */
export const State = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <>
    <span class={`dot ${tone}`} />
    {children}
  </>
);

/** A remark on something, in a word or two. */
export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

interface CodeBlockProps {
  text: string;
  /** What the text is, above it and for a screen reader. */
  label: string;
}

interface CopyButtonProps {
  text: string;
  /** @default "Copy" */
  label?: string;
  /** What it copies, for a screen reader. */
  of?: string;
}

/** Copies the text, and says so itself. */
export function CopyButton({ text, label = "Copy", of }: CopyButtonProps) {
  const { notify } = useRoot();
  const [copied, setCopied] = useState<string>();

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
    } catch {
      notify({ text: "The browser did not allow the copy. Select the text instead.", tone: "bad" });
    }
  }
  const words = copied === text ? "Copied" : label;
  return (
    <button
      type="button"
      class="plain"
      aria-label={of && `${words}: ${of}`}
      onClick={() => void copy()}
    >
      {words}
    </button>
  );
}

/** A text of fixed width with a button that copies it as it is. */
export function CodeBlock({ text, label }: CodeBlockProps) {
  return (
    <figure class="code">
      <figcaption>
        {label}
        <CopyButton of={label} text={text} />
      </figcaption>
      {/* It can scroll, so the keyboard must reach it. */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
    </figure>
  );
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A value of an answer as it is read: a date-time by the chosen clock, a list with commas. */
function shown(value: unknown): ComponentChildren {
  if (typeof value === "number") return formatCount(value);
  if (typeof value === "string" && DATE_TIME.test(value)) return <Moment at={value} short />;
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isList ? value.join(", ") || "none" : (value as ComponentChildren);
}

export interface Column<Row> {
  label: string;
  /** The name of a field, or what is made of the row. */
  cell: (keyof Row & string) | ((row: Row) => ComponentChildren);
  /**
   * `end`: numbers stand at the end of their column. `grows`: it takes the width that others leave.
   * `leads`: where the page is narrow, it stands in the first line of its row, without its label;
   * `box` as well, and is narrow. Of a table of `lines`, `short` is a column of one word, and `kind`
   * one that is left out where there is little room.
   */
  look?: "end" | "grows" | "leads" | "box" | "short" | "kind";
}

interface DataTableProps<Row> {
  /** Says what the rows are, to a screen reader. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (keyof Row & string) | ((row: Row) => string | number);
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
            <th key={column.label} role="columnheader" scope="col" class={column.look}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr
            key={String(read(keyOf, row))}
            role="row"
            class={isSelected?.(row) ? "selected" : undefined}
            onClick={(event) => open(event, row)}
          >
            {columns.map((column) => (
              <td key={column.label} role="cell" class={column.look} data-label={column.label}>
                {shown(read(column.cell, row))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function read<Row>(what: (keyof Row & string) | ((row: Row) => unknown), row: Row): unknown {
  return typeof what === "function" ? what(row) : row[what];
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
