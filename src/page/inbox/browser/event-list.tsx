import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { formatCount } from "../../../base/text/format.js";
import type { PauseReason } from "../../../kit/inbox/dispatch/dispatcher.js";
import {
  address,
  CodeBlock,
  href,
  Problem,
  RequestProblem,
  useData,
  usePage,
  View,
} from "../../parts/index.js";
import type { ListedEvent, Overview } from "../inbox-api.js";
import { ActivityChart } from "./activity-chart.js";
import { wordOf } from "./event-state.js";
import { EventTable } from "./event-table.js";
import { findEvents, type Found, keysOf, termIn, withTerm } from "./find-events.js";
import { MoveButton } from "./move-events.js";
import { countsOf, Facets, NoMatch, SearchBox } from "./search-box.js";
import { Failures, isPaused, RefusedPanel, SituationLine } from "./situation.js";

interface EventListProps {
  search: string;
  /** Where the page of the list begins, as `nextBeforeSeq` of the page before it. */
  before: number | undefined;
  /** It has as many events as can be moved at once. */
  isLong: boolean;
  overview: Overview | undefined;
  /** The key of the event that is shown instead, or beside the list where there is room. */
  open: string | undefined;
}

/** The other reason is in the situation. */
const PAUSED: Readonly<Record<Exclude<PauseReason, "callback_failing">, string>> = {
  leases_unsure: "until a heartbeat to the inbox succeeds.",
  not_running: "because this receiver is not running.",
};

const PAGE = 50;
/** As many as the server moves at once. */
const LONG_PAGE = 1000;
/** A search that needs more requests is not repeated by itself whenever an event changes. */
const MOST_LIVE_REQUESTS = 3;
/** With more new events the list does not follow the inbox until they are shown. */
const MOST_NEW = 150;

/** Its `events` keep their places while the inbox goes on: new ones wait for the reader. */
interface Listed extends Found {
  /** Which list it is: an answer can be of the one before. */
  of: string;
  /** An event with a larger `seq` is new. */
  top: number;
  fresh: number;
}
const NOTHING: Listed = { of: "", events: [], top: 0, fresh: 0, next: null, requests: 0 };

export function EventList({ search, before, isLong, overview, open }: EventListProps) {
  const { version } = usePage();
  const [heldAt, setHeldAt] = useState<number>();
  const wantsFresh = useRef(false);
  const query = { q: search, before, long: isLong ? "yes" : undefined };
  const of = JSON.stringify(query);
  const { data, problem, isLoading, reload } = useData(
    of,
    async (signal): Promise<Listed> => {
      const shown = data?.of === of && !wantsFresh.current ? data : NOTHING;
      const most = isLong ? LONG_PAGE : PAGE;
      const listed = await findRows({ search, before, titles: "yes" }, most, shown, signal);
      wantsFresh.current = false;
      const isSlow = listed.requests > MOST_LIVE_REQUESTS;
      setHeldAt(isSlow || listed.fresh > MOST_NEW ? version : undefined);
      return { ...listed, of };
    },
    heldAt ?? version,
  );
  const { events: rows, fresh } = data ?? NOTHING;
  const isStale = problem !== undefined || data?.of !== of;
  const keyOf = keysOf(overview);
  const selection = useSelection(search, isStale ? [] : rows.map(keyOf));
  const isRefused = problem instanceof RequestProblem && problem.status === 400;
  const isEmptyInbox = overview?.counts.total === 0 && search === "";
  const endpoints = overview?.endpoints ?? [];
  const endpoint = termIn(search, "endpoint") || undefined;
  const list = useRef<HTMLElement>(null);
  const showFresh = (): void => {
    wantsFresh.current = true;
    reload();
  };
  const skip = (event: Event): void => {
    event.preventDefault();
    list.current?.querySelector<HTMLElement>("tbody a")?.focus();
  };

  return (
    <View
      title={search === "" ? "Events" : `Events: ${search}`}
      heading="Events"
      isHidden={open !== undefined}
      isDense
      above={
        rows.length > 0 && (
          <a class="skip" href="#/" onClick={skip}>
            Skip to the events
          </a>
        )
      }
    >
      {overview !== undefined && <SituationLine overview={overview} endpoint={endpoint} />}
      {overview?.paused != null && overview.paused !== "callback_failing" && (
        <p class="problem" role="status">
          Hand-offs are paused {PAUSED[overview.paused]}
        </p>
      )}
      {overview?.shortage != null && <p class="problem">{overview.shortage}</p>}
      {isEmptyInbox && <FirstEvent endpoints={endpoints.map((each) => each.endpoint)} />}
      {!isEmptyInbox && <ActivityChart search={search} overview={overview} />}
      {overview !== undefined && withTerm(search, "endpoint", "") === "" && (
        <Failures overview={overview} endpoint={endpoint} />
      )}
      <section
        ref={list}
        class="panel"
        aria-label="List of events"
        aria-busy={isStale}
        hidden={isEmptyInbox}
      >
        <SearchBox search={search} problem={isRefused ? problem.message : undefined}>
          <Facets search={search} events={rows} overview={overview} />
        </SearchBox>
        <Problem of={isRefused ? undefined : problem} onRetry={reload} />
        {rows.length > 0 && (
          <>
            <SelectionBar selection={selection} rows={rows} keyOf={keyOf} onMoved={reload}>
              {fresh > 0 && (
                <button type="button" class="plain fresh" onClick={showFresh}>
                  {fresh > MOST_NEW && "Over "}
                  {formatCount(Math.min(fresh, MOST_NEW), "new event")}
                </button>
              )}
            </SelectionBar>
            <EventTable
              events={rows}
              keyOf={keyOf}
              selected={selection.ids}
              onSelect={selection.select}
              isStale={isStale}
              paused={new Set(endpoints.filter(isPaused).map((each) => each.endpoint))}
              hasMany={endpoints.length > 1 && endpoint === undefined}
              open={open}
              query={query}
            />
          </>
        )}
        {!isStale && rows.length === 0 && !isLoading && (
          <>
            <NoMatch search={search} isWhole={data.next === null} />
            {overview !== undefined && /^[^\s:]+$/.test(search) && (
              <RefusedPanel refusals={overview.refusals} eventId={search} />
            )}
          </>
        )}
        {problem === undefined && (
          <div class="toolbar">
            <p class="muted grows" role="status">
              {isStale ? "Searching…" : `${formatCount(rows.length, "event")} shown`}
              {!isStale && heldAt !== undefined && ", which do not follow the inbox"}
            </p>
            <a class="button" href={address("api/export", { q: search })} download="events.ndjson">
              Export
            </a>
            {before !== undefined && (
              <a class="button" href={href([], { q: search })}>
                Newest
              </a>
            )}
            {!isStale && data.next !== null && (
              <>
                {!isLong && (
                  <a class="button" href={href([], { ...query, long: "yes" })}>
                    {`Show ${formatCount(LONG_PAGE)}`}
                  </a>
                )}
                <a class="button" href={href([], { ...query, before: data.next })}>
                  Next page
                </a>
              </>
            )}
          </div>
        )}
      </section>
    </View>
  );
}

/** Finds a full page of the list `shown`, and what is new. */
async function findRows(
  query: Parameters<typeof findEvents>[0],
  most: number,
  shown: Listed,
  signal: AbortSignal,
): Promise<Listed> {
  const { top, fresh } = shown;
  const found = await findEvents(query, most + fresh, signal);
  const { events, next } = found;
  const rows = events.filter(({ seq }) => seq <= top);
  const known = events.length - rows.length;
  // More new ones than expected take the place of no row.
  if (top > 0 && next !== null && rows.length < most && events.length >= most + fresh) {
    const below = { ...query, before: Math.min(next, top + 1) };
    const rest = await findEvents(below, most - rows.length, signal);
    rows.push(...rest.events);
    found.requests += rest.requests;
    if (rows.length > 0) found.next = rest.next;
  }
  // Without a row, the new ones need not wait.
  if (rows.length === 0) return { ...shown, ...found, top: events[0]?.seq ?? 0, fresh: 0 };
  return { ...shown, ...found, events: rows, fresh: known };
}

/** Only what is shown is selected; what is back on the page is selected again. */
function useSelection(search: string, shownIds: readonly string[]) {
  const [kept, setKept] = useState({ search, ids: [] as readonly string[] });
  const all = new Set(kept.search === search ? kept.ids : []);
  const select = (eventIds: readonly string[], isSelected: boolean): void => {
    const others = [...all].filter((id) => !eventIds.includes(id));
    setKept({ search, ids: isSelected ? [...others, ...eventIds] : others });
  };
  return { ids: new Set(shownIds.filter((id) => all.has(id))), select };
}

interface SelectionBarProps {
  selection: ReturnType<typeof useSelection>;
  rows: readonly ListedEvent[];
  keyOf: (event: ListedEvent) => string;
  onMoved: () => void;
  children: ComponentChildren;
}

function SelectionBar({ selection, rows, keyOf, onMoved, children }: SelectionBarProps) {
  const { ids, select } = selection;
  const chosen = rows.filter((event) => ids.has(keyOf(event)));
  const areAll = chosen.length === rows.length;
  return (
    <div
      class={ids.size === 0 ? "toolbar" : "toolbar selection"}
      role="group"
      aria-label="Selected events"
    >
      <label class="check">
        <input
          type="checkbox"
          checked={areAll}
          indeterminate={!areAll && ids.size > 0}
          onChange={({ currentTarget }) => select(rows.map(keyOf), currentTarget.checked)}
        />
        <span aria-live="polite">
          {ids.size === 0 ? "Select all shown" : `${formatCount(ids.size)} selected`}
        </span>
      </label>
      {ids.size > 0 &&
        (["replay", "discard"] as const).map((kind) => (
          <MoveButton
            key={kind}
            kind={kind}
            eventIds={[...ids]}
            about={aboutAll(chosen)}
            onMoved={() => {
              select([...ids], false);
              onMoved();
            }}
          />
        ))}
      {children}
    </div>
  );
}

/** Which events they are: their states, and where they are from. */
const aboutAll = (events: readonly ListedEvent[]): string =>
  [
    events.map(({ state }) => (state === "done" ? "done before" : wordOf(state))),
    events.map(({ endpoint }) => endpoint),
  ]
    .map((values) =>
      [...countsOf(values)].map(([value, count]) => `${formatCount(count)} ${value}`).join(", "),
    )
    .join(": ");

function FirstEvent({ endpoints }: { endpoints: readonly string[] }) {
  const [what, where] = endpoints.includes("default")
    ? ["price_increased", "signals"]
    : ["sample --sender stripe", "stripe"];
  return (
    <section class="panel empty">
      <h2>No event yet</h2>
      <p>Send a first one to your receiver, at the address where it is mounted:</p>
      <CodeBlock
        label="In a terminal"
        text={`npx signalbox send ${what} --url http://localhost:3000/webhooks/${where}`}
      />
      <p>Listening… it appears here when it comes.</p>
    </section>
  );
}
