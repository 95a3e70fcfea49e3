import { useRef } from "preact/hooks";
import { DEFAULT_SENDER, isIgnored, NO_HANDLER } from "../../../kit/inbox/stored-events.js";
import { Badge, type Column, DataTable, go, href, Moment, type Query } from "../../parts/index.js";
import type { ListedEvent } from "../inbox-api.js";
import { firstLine, headlineOf, toneOf } from "./event-state.js";
import { useKeys } from "./search-box.js";

interface EventTableProps {
  events: readonly ListedEvent[];
  keyOf: (event: ListedEvent) => string;
  selected: ReadonlySet<string>;
  onSelect: (eventIds: readonly string[], isSelected: boolean) => void;
  /** The key of the event that is shown beside the list. */
  open: string | undefined;
  /** Kept in the address of an event, so that the way back leads here. */
  query: Query;
}

/** What is unusual about the event: where it is from, and its error. */
function remarkOn(event: ListedEvent, hasMany: boolean): string {
  const { lastError, sender, endpoint, attempts, type } = event;
  // Why an event is not usable is its headline.
  const error =
    lastError === null || lastError === NO_HANDLER || type === "" ? "" : firstLine(lastError);
  return [
    hasMany ? endpoint : "",
    sender === DEFAULT_SENDER ? "" : sender,
    attempts > 1 ? `${attempts}×` : "",
    isIgnored(event) ? "ignored" : error,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

export function EventTable({ events, keyOf, selected, onSelect, open, query }: EventTableProps) {
  const table = useRef<HTMLDivElement>(null);
  const lastIndex = useRef(0);
  // Enter opens the row: it is a link.
  useKeys("jkx", ({ key }) => {
    const links = [...(table.current?.querySelectorAll<HTMLElement>("tbody a") ?? [])];
    const row = document.activeElement?.closest("tr");
    const index = links.findIndex((link) => link.closest("tr") === row);
    if (key === "x") row?.querySelector<HTMLElement>("input")?.click();
    else links[key === "j" ? index + 1 : Math.max(0, index - 1)]?.focus();
    return false;
  });
  const hasMany = new Set(events.map(({ endpoint }) => endpoint)).size > 1;

  /** With the shift key, all between this row and the last one that was chosen. */
  function select(event: ListedEvent, isSelected: boolean, isRange: boolean): void {
    const index = events.indexOf(event);
    const [from, to] = [index, isRange ? lastIndex.current : index].sort((a, b) => a - b) as [
      number,
      number,
    ];
    lastIndex.current = index;
    onSelect(events.slice(from, to + 1).map(keyOf), isSelected);
  }

  const columns: Column<ListedEvent>[] = [
    {
      label: "Select",
      leads: true,
      cell: (event) => (
        <input
          type="checkbox"
          aria-label={`Select ${event.eventId}`}
          checked={selected.has(keyOf(event))}
          onClick={({ currentTarget, shiftKey }) => select(event, currentTarget.checked, shiftKey)}
        />
      ),
    },
    {
      label: "State",
      cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge>,
      leads: true,
    },
    {
      label: "Event",
      cell: (event) => {
        const { text, about } = headlineOf(event);
        const [first, ...others] = [event.title ?? "", text, about].filter((part) => part !== "");
        return (
          <span title={[first, ...others].join(" · ")}>
            <strong>{first}</strong>
            {others.length > 0 && ` · ${others.join(" · ")}`}
          </span>
        );
      },
    },
    { label: "Received", cell: ({ receivedAt }) => <Moment at={receivedAt} />, leads: true },
    {
      label: "Remark",
      cell: (event) => {
        const remark = remarkOn(event, hasMany);
        return remark === "" ? "" : <span title={remark}>{remark}</span>;
      },
    },
    {
      label: "Id",
      cell: (event) => (
        <a
          class="mono"
          href={href(["events", keyOf(event)], query)}
          title={event.eventId}
          aria-current={keyOf(event) === open ? "true" : undefined}
        >
          {event.eventId}
        </a>
      ),
    },
  ];
  return (
    <div ref={table}>
      <DataTable
        label="Events, the newest first"
        empty=""
        lines
        columns={columns}
        rows={events}
        keyOf={keyOf}
        isSelected={(event) => selected.has(keyOf(event))}
        onOpen={(event) => go(["events", keyOf(event)], query)}
      />
    </div>
  );
}
