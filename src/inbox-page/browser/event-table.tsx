import type { ComponentChildren } from "preact";
import { DEFAULT_SENDER, isIgnored, NO_HANDLER, type InboxEntry } from "../../inbox/stored-events.js";
import { type Column, DataTable } from "../../browser-parts/data-table.js";
import { formatCount } from "../../text/format.js";
import { Badge } from "../../browser-parts/badge.js";
import { Moment } from "../../browser-parts/panel.js";
import type { Query } from "../../browser-parts/request.js";
import { href } from "../../browser-parts/use-route.js";
import { visible } from "../../text/visible-text.js";
import { firstLine, toneOf } from "./event-state.js";

interface EventTableProps {
  events: readonly InboxEntry[];
  keyOf: (event: InboxEntry) => string;
  selected: ReadonlySet<string>;
  onSelect: (eventIds: readonly string[], isSelected: boolean) => void;
  /** Kept in the address of an event, so that the way back leads here. */
  query: Query;
}

/** A line ends after a word of a type, and not within one. */
function words(type: string): ComponentChildren[] {
  return visible(type)
    .split(/(?<=[_.])/)
    .flatMap((word) => [word, <wbr key={word} />]);
}

const isOfService = ({ sender }: InboxEntry): boolean => sender === DEFAULT_SENDER;

/** The type of a signal says more than that it is one. */
function typeOf(event: InboxEntry): ComponentChildren {
  const { type, subtype } = event;
  if (type === "") return <span class="muted">none</span>;
  if (isOfService(event)) return words(subtype ?? type);
  return subtype === null ? words(type) : [...words(type), " ", ...words(subtype)];
}

export function EventTable({ events, keyOf, selected, onSelect, query }: EventTableProps) {
  const hasMany = new Set(events.map(({ endpoint }) => endpoint)).size > 1;
  const columns: Column<InboxEntry>[] = [
    {
      label: "Select",
      leads: true,
      cell: (event) => (
        <input
          type="checkbox"
          aria-label={`Select ${visible(event.eventId)}`}
          checked={selected.has(keyOf(event))}
          onChange={({ currentTarget }) => onSelect([keyOf(event)], currentTarget.checked)}
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
      cell: (event) => (
        <a class="mono clamped" href={href(["events", keyOf(event)], query)}>
          {visible(event.eventId)}
        </a>
      ),
    },
    {
      label: events.every(isOfService) ? "Type, product" : "Type, subject",
      cell: (event) => (
        <>
          {typeOf(event)}
          {event.subject !== null && <div class="muted">{visible(event.subject)}</div>}
          {(!isOfService(event) || hasMany) && (
            <div class="muted">
              {hasMany ? `${visible(event.endpoint)}, ${visible(event.sender)}` : visible(event.sender)}
            </div>
          )}
        </>
      ),
    },
    {
      label: "Received",
      cell: ({ receivedAt }) => <Moment at={receivedAt} />,
      whole: true,
      leads: true,
    },
    { label: "Attempts", cell: ({ attempts }) => formatCount(attempts), align: "end" },
    {
      label: "Error",
      cell: (event) => {
        if (isIgnored(event)) return <span class="muted">ignored</span>;
        const { lastError } = event;
        if (lastError === null || lastError === NO_HANDLER) return "";
        return <span class="clamped">{visible(firstLine(lastError))}</span>;
      },
    },
  ];
  return (
    <DataTable
      label="Events, the newest first"
      empty=""
      columns={columns}
      rows={events}
      keyOf={keyOf}
      isSelected={(event) => selected.has(keyOf(event))}
    />
  );
}
