import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatCount } from "../../../base/text/format.js";
import type { PauseReason } from "../../../kit/inbox/dispatch/dispatcher.js";
import type { InboxEntry } from "../../../kit/inbox/stored-events.js";
import {
  ActionButton,
  address,
  CodeBlock,
  href,
  Problem,
  RequestProblem,
  type Said,
  useData,
  usePage,
  View,
} from "../../parts/index.js";
import type { Overview } from "../inbox-api.js";
import { ActivityChart } from "./activity-chart.js";
import { EventTable } from "./event-table.js";
import { findEvents, keysOf } from "./find-events.js";
import { MoveButton } from "./move-events.js";
import { Facets, NoMatch, SearchBox } from "./search-box.js";
import { FailuresPanel, RefusedPanel, SituationLine, StateCounts } from "./situation.js";

interface EventListProps {
  search: string;
  /** Where the page of the list begins, as `nextBeforeSeq` of the page before it. */
  before: number | undefined;
  overview: Overview | undefined;
  /** The key of the event that is shown instead, or beside the list where there is room. */
  open: string | undefined;
}

/** The other reason is in the situation. */
const PAUSED: Readonly<Record<Exclude<PauseReason, "callback_failing">, string>> = {
  leases_unsure:
    "Hand-offs are paused, because heartbeats to the inbox fail: other processes may hand its events off. They continue when a heartbeat succeeds.",
  not_running: "Hand-offs are paused, because this receiver is not running.",
};

const PAGE = 50;
/** As many as the server moves at once. */
const MOST_SELECTED = 1000;
/** A search that needs more requests is not repeated by itself whenever an event changes. */
const MOST_LIVE_REQUESTS = 3;

export function EventList({ search, before, overview, open }: EventListProps) {
  const { version } = usePage();
  const [slowAt, setSlowAt] = useState<number>();
  const selection = useSelection(search);
  const { data, problem, isLoading, reload } = useData(
    `${search}\n${before}`,
    async (signal) => {
      const found = await findEvents({ search, before, titles: "yes" }, PAGE, signal);
      setSlowAt(found.requests > MOST_LIVE_REQUESTS ? version : undefined);
      return found;
    },
    slowAt ?? version,
  );
  const isRefused = problem instanceof RequestProblem && problem.status === 400;
  // After a failed search the events of the search before it must not be selected.
  const events = problem === undefined ? (data?.events ?? []) : [];
  const keyOf = keysOf(overview);
  const shownIds = events.map(keyOf);
  const isEmptyInbox = overview?.counts.total === 0 && search === "";

  return (
    <View
      title={search === "" ? "Events" : `Events: ${search}`}
      heading="Events"
      isHidden={open !== undefined}
      isDense
      actions={<StateCounts overview={overview} search={search} />}
    >
      {overview !== undefined && !isEmptyInbox && <SituationLine overview={overview} />}
      {overview?.paused != null && overview.paused !== "callback_failing" && (
        <p class="problem" role="status">
          {PAUSED[overview.paused]}
        </p>
      )}
      {overview?.shortage != null && <p class="problem">{overview.shortage}</p>}
      {isEmptyInbox && <FirstEvent />}
      {overview !== undefined && search === "" && (
        <div class="folds">
          <FailuresPanel
            failures={overview.failures}
            hasManyEndpoints={overview.endpoints.length > 1}
          />
          <RefusedPanel refusals={overview.refusals} />
        </div>
      )}
      {!isEmptyInbox && <ActivityChart />}
      <section class="panel" aria-label="List of events" hidden={isEmptyInbox}>
        <SearchBox search={search} problem={isRefused ? problem.message : undefined}>
          <a class="button" href={address("api/export", { q: search })} download="events.ndjson">
            Export
          </a>
        </SearchBox>
        <Problem of={isRefused ? undefined : problem} onRetry={reload} />
        {events.length > 0 && (
          <>
            <SelectionBar
              selection={selection}
              shownIds={shownIds}
              keyOf={keyOf}
              search={search}
              onMoved={reload}
            >
              <Facets search={search} events={events} overview={overview} />
            </SelectionBar>
            <EventTable
              events={events}
              keyOf={keyOf}
              selected={selection.ids}
              onSelect={selection.select}
              open={open}
              query={{ q: search, before }}
            />
          </>
        )}
        {data !== undefined && events.length === 0 && problem === undefined && !isLoading && (
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
              {data === undefined ? "Loading…" : `${formatCount(events.length, "event")} shown`}
              {slowAt !== undefined &&
                " when the search ended. It takes long, so it does not follow the inbox."}
            </p>
            {before !== undefined && (
              <a class="button" href={href([], { q: search })}>
                Newest
              </a>
            )}
            {data !== undefined && data.next !== null && (
              <a class="button" href={href([], { q: search, before: data.next })}>
                Next page
              </a>
            )}
          </div>
        )}
      </section>
    </View>
  );
}

/** The selection stays from page to page of one search. */
function useSelection(search: string) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set<string>());
  const clear = (): void => setIds(new Set());
  useEffect(clear, [search]);
  const select = (eventIds: readonly string[], isSelected: boolean): void =>
    setIds(
      (old) =>
        new Set(
          isSelected ? [...old, ...eventIds] : [...old].filter((id) => !eventIds.includes(id)),
        ),
    );
  return { ids, select, clear };
}

interface SelectionBarProps {
  selection: ReturnType<typeof useSelection>;
  shownIds: readonly string[];
  keyOf: (event: InboxEntry) => string;
  search: string;
  onMoved: () => void;
  children: ComponentChildren;
}

function SelectionBar(bar: SelectionBarProps) {
  const { shownIds, keyOf, search, onMoved, children } = bar;
  const { ids, select, clear } = bar.selection;
  const areAllShown = shownIds.every((id) => ids.has(id));

  async function selectMatching(): Promise<Said> {
    const { events, next } = await findEvents({ search }, MOST_SELECTED);
    const found = events.map(keyOf);
    select(found, true);
    const count = formatCount(found.length, "event");
    return next === null
      ? `${count} selected.`
      : { text: `More may match: the newest ${count} are selected.`, tone: "warn" };
  }

  return (
    <div class="toolbar selection" role="group" aria-label="Selected events">
      <label class="check">
        <input
          type="checkbox"
          checked={areAllShown}
          indeterminate={!areAllShown && shownIds.some((id) => ids.has(id))}
          onChange={({ currentTarget }) =>
            currentTarget.checked ? select(shownIds, true) : clear()
          }
        />
        <span aria-live="polite">
          {ids.size === 0 ? "Select all shown" : `${formatCount(ids.size)} selected`}
        </span>
      </label>
      {(["replay", "discard"] as const).map((kind) => (
        <MoveButton
          key={kind}
          kind={kind}
          eventIds={[...ids]}
          whyNot={ids.size > 0 ? undefined : "Select an event first."}
          onMoved={() => {
            clear();
            onMoved();
          }}
        />
      ))}
      <ActionButton label="Select all that match" tone="plain" run={selectMatching} />
      {children}
    </div>
  );
}

function FirstEvent() {
  return (
    <section class="panel empty">
      <h2>No event yet</h2>
      <p>Send a first one to your receiver, at the address where it is mounted:</p>
      <CodeBlock
        label="In a terminal"
        text="npx signalbox send price_increased --url http://localhost:3000/webhooks/signals"
        wrap
      />
    </section>
  );
}
