import { useRef } from "preact/hooks";
import {
  type Column,
  DataTable,
  go,
  href,
  Moment,
  type Query,
  State,
  usePage,
} from "../../parts/index.js";
import type { ListedEvent } from "../inbox-api.js";
import { headlineOf, outcomeOf, toneOf, wordOf } from "./event-state.js";
import { useKeys } from "./search-box.js";

interface EventTableProps {
  events: readonly ListedEvent[];
  keyOf: (event: ListedEvent) => string;
  selected: ReadonlySet<string>;
  onSelect: (eventIds: readonly string[], isSelected: boolean) => void;
  /** They belong to another search: they are dimmed, and nothing can be done with them. */
  isStale: boolean;
  /** The endpoints that hand nothing off. */
  paused: ReadonlySet<string>;
  /** Whether there is another endpoint too. */
  hasMany: boolean;
  /** The key of the event that is shown beside the list. */
  open: string | undefined;
  /** Kept in the address of an event, so that the way back leads here. */
  query: Query;
}

export function EventTable(props: EventTableProps) {
  const { events, keyOf, selected, onSelect, isStale, paused, hasMany, open, query } = props;
  const { now } = usePage();
  const table = useRef<HTMLDivElement>(null);
  const lastIndex = useRef(0);
  const show = (event: ListedEvent): void => go(["events", keyOf(event)], query);
  // Enter opens the row: it is a link.
  useKeys(["j", "k", "x"], ({ key }) => {
    const step = key === "j" ? 1 : -1;
    const links = [...(table.current?.querySelectorAll<HTMLElement>("tbody a") ?? [])];
    const row = document.activeElement?.closest("tr");
    const index = links.findIndex((link) => link.closest("tr") === row);
    const next = events[events.findIndex((event) => keyOf(event) === open) + step];
    if (open !== undefined) {
      if (key !== "x" && next !== undefined) show(next);
    } else if (key === "x") row?.querySelector<HTMLElement>("input")?.click();
    else links[Math.max(0, index + step)]?.focus();
    return false;
  });

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
      look: "box",
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
      look: "leads",
      cell: ({ state }) => <State tone={toneOf(state)}>{wordOf(state)}</State>,
    },
    {
      label: "Received",
      look: "leads",
      cell: ({ receivedAt }) => <Moment at={receivedAt} short />,
    },
    ...(hasMany ? [{ label: "Endpoint", look: "short", cell: "endpoint" } as const] : []),
    {
      label: "Type",
      look: "kind",
      cell: (event) => (event.type === "" ? "" : headlineOf(event).text),
    },
    {
      label: "Event",
      cell: (event) => {
        const { title, subject, eventId } = event;
        const name = title ?? subject ?? eventId;
        return (
          <span title={name}>
            <a
              href={href(["events", keyOf(event)], query)}
              title={eventId}
              aria-current={keyOf(event) === open ? "true" : undefined}
            >
              {name}
            </a>{" "}
            {title !== null && subject}
          </span>
        );
      },
    },
    {
      label: "Outcome",
      cell: (event) => {
        const outcome = outcomeOf(event, now, paused.has(event.endpoint));
        return (
          <span class={toneOf(event.state) === "bad" ? "problem" : "muted"} title={outcome}>
            {outcome}
          </span>
        );
      },
    },
  ];
  return (
    <div ref={table} inert={isStale}>
      <DataTable
        label="Events, the newest first"
        empty=""
        lines
        columns={columns}
        rows={events}
        keyOf={keyOf}
        isSelected={(event) => selected.has(keyOf(event))}
        onOpen={show}
      />
    </div>
  );
}
