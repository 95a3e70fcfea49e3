import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { formatMoment, formatTime } from "../../base/text/format.js";
import { usePage } from "./page-frame.js";
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

/** Names and what they stand for. A row that is `false` is left out. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [string, ComponentChildren] | false)[];
}) {
  return (
    <dl class="facts">
      {rows
        .filter((row) => row !== false)
        .map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} value`}>{value}</dd>,
        ])}
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
}

/** A time as seen from now: `4 min ago`, `in 2 h`. */
export function Moment({ at, full = false }: MomentProps) {
  const { now } = usePage();
  const ms = new Date(at).getTime();
  const time = formatTime(ms);
  // The page knows the server's time as it was at the last answer.
  const distance = Math.abs(ms - now) < 2000 ? "now" : formatMoment(ms, now);
  return (
    <time dateTime={time.replace(" ", "T")} title={full ? undefined : time}>
      {full ? `${time} ` : distance}
      {full && <span class="muted">({distance})</span>}
    </time>
  );
}
