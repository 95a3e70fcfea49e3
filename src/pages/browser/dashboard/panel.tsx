import type { ComponentChildren, ComponentProps, JSX } from "preact";
import { useId } from "preact/hooks";
import { DataTable } from "../parts/data-table.js";
import { View as AnyView } from "../parts/page-frame.js";
import { problemText } from "../parts/request.js";
import type { Data } from "../parts/use-data.js";

export const BRAND = "signalbox emulator";

/** A view of this page. */
export const View = (view: Omit<ComponentProps<typeof AnyView>, "brand">): JSX.Element => (
  <AnyView {...view} brand={BRAND} />
);

interface PanelProps {
  title: string;
  /** Beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ title, actions, children }: PanelProps): JSX.Element {
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

/** Names and what they stand for. A row that is `false` is left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren] | false)[] }): JSX.Element {
  return (
    <dl class="facts">
      {rows
        .filter((row) => row !== false)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}

/** What was loaded, and why the newest load failed. */
export function Loaded<T>({
  from: { data, problem },
  children,
}: {
  from: Data<T>;
  children: (data: T) => ComponentChildren;
}): JSX.Element {
  return (
    <>
      <Problem text={problem} />
      {data !== undefined && children(data)}
    </>
  );
}

type ListProps<Row> = ComponentProps<typeof DataTable<Row>> & {
  /** Instead of a table without rows. */
  empty: string;
};

export function List<Row>({ empty, ...table }: ListProps<Row>): JSX.Element {
  return table.rows.length === 0 ? <p class="muted">{empty}</p> : <DataTable {...table} />;
}

/** Why something failed, for the eye and for a screen reader. @param text also what `useData` gives as its problem */
export function Problem({ text }: { text: unknown }): JSX.Element | null {
  if (text === undefined || text === "") return null;
  return (
    <p class="problem" role="alert">
      {problemText(text)}
    </p>
  );
}
