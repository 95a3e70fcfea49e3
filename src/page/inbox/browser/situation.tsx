import { formatCount } from "../../../base/text/format.js";
import { describeSituation } from "../../../kit/inbox/situation.js";
import { ActionButton, href, Moment, request, type Said, usePage } from "../../parts/index.js";
import type { FailureRow, Overview } from "../inbox-api.js";
import { STATES } from "./event-state.js";
import { findEvents, termIn } from "./find-events.js";
import { moveEvents } from "./move-events.js";

/** Whether the receiver is behind, and why, in a sentence for each endpoint. */
export function SituationLine({ overview }: { overview: Overview }) {
  const { now } = usePage();
  const { endpoints, paused } = overview;
  const situations = endpoints.map(({ endpoint, facts }) => ({
    endpoint,
    facts,
    ...describeSituation({ ...facts, now }),
  }));

  return (
    <div class="situations" role="status">
      {situations.map(({ endpoint, facts, level, text }) => (
        <p key={endpoint} class={`situation ${level === "ok" ? "good" : "bad"}`}>
          {situations.length > 1 && <strong>{endpoint}: </strong>}
          {text}{" "}
          {facts.pause !== null && paused === "callback_failing" && (
            <ActionButton label="Try one event now" tone="plain" run={tryOne} />
          )}
        </p>
      ))}
    </div>
  );
}

async function tryOne(): Promise<string> {
  await request("POST", "api/retry", { body: { eventIds: [] } });
  return "One event is tried now.";
}

/** How many events are in each state. Each count is a link to these events. */
export function StateCounts({
  overview,
  search,
}: {
  overview: Overview | undefined;
  search: string;
}) {
  const of = termIn(search, "endpoint");
  const { counts } = overview?.endpoints.find(({ endpoint }) => endpoint === of) ?? overview ?? {};
  // The other terms of the search stay.
  const others = search.replace(/\bstate:\w+\s*/, "").trim();
  return (
    <nav class="counts" aria-label="Events by state">
      {[{ state: "total", tone: "idle", meaning: "stored" } as const, ...STATES].map(
        ({ state, tone, meaning }) => {
          const query = state === "total" ? "" : `state:${state}`;
          const isCurrent = query === "" ? others === search : search.includes(query);
          const isUrgent = (tone === "bad" || tone === "warn") && (counts?.[state] ?? 0) > 0;
          return (
            <a
              key={state}
              class={isUrgent ? tone : undefined}
              title={meaning}
              href={href([], { q: [query, others].filter(Boolean).join(" ") })}
              aria-current={isCurrent ? "true" : undefined}
            >
              <strong>{counts === undefined ? "…" : formatCount(counts[state])}</strong>{" "}
              {state === "total" ? "all" : state}
            </a>
          );
        },
      )}
    </nav>
  );
}

interface FailuresPanelProps {
  failures: readonly FailureRow[];
  /** The endpoint is said, and is a term of each search. */
  hasManyEndpoints: boolean;
}

const SHOWN = 3;
/** As many as the server moves at once. */
const MOST_MOVED = 1000;

/** The errors of the events that fail now, with what to do about each. */
export function FailuresPanel({ failures, hasManyEndpoints }: FailuresPanelProps) {
  if (failures.length === 0) return null;
  const first = failures
    .slice(0, SHOWN)
    .map(({ count, error }) => `${formatCount(count)} × ${error}`);
  return (
    <details class="panel folded">
      <summary>
        <strong>{formatCount(failures.length, "error")}</strong> {first.join("; ")}
      </summary>
      <ul class="rows" aria-label="Failures">
        {failures.map((failure) => (
          <li key={`${failure.endpoint} ${failure.error}`}>
            <FailureLine
              failure={failure}
              endpoint={hasManyEndpoints ? failure.endpoint : undefined}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}

function FailureLine({ failure, endpoint }: { failure: FailureRow; endpoint: string | undefined }) {
  const { error, count, waiting, dead, firstSeen, lastSeen, subjects, subjectCount } = failure;
  const search = searchOf(error, endpoint);
  const states = [
    waiting > 0 ? `${formatCount(waiting)} waiting` : "",
    dead > 0 ? `${formatCount(dead)} dead` : "",
  ];
  const others = subjectCount - subjects.length;
  const about = [...subjects, ...(others > 0 ? [`${formatCount(others)} more`] : [])].join(", ");

  async function handOff(): Promise<Said> {
    const found = await Promise.all(
      ["ready", "dead"].map((state) =>
        findEvents({ search: `state:${state} ${search}` }, MOST_MOVED),
      ),
    );
    const events = found.flatMap((each) => each.events).slice(0, MOST_MOVED);
    if (events.length === 0) return "None of them fails any more.";
    return moveEvents(
      "replay",
      events.map(({ eventId }) => (endpoint === undefined ? eventId : `${endpoint}/${eventId}`)),
    );
  }

  return (
    <>
      <p>
        <strong>{formatCount(count)}</strong> <span class="mono problem">{error}</span>
      </p>
      <div class="toolbar">
        <span class="muted grows">
          {endpoint !== undefined && `${endpoint}; `}
          {states.filter((state) => state !== "").join(", ")}; first failed{" "}
          <Moment at={firstSeen} />, last <Moment at={lastSeen} />
          {about !== "" && `; ${about}`}
        </span>
        <a class="button" href={href([], { q: search })}>
          Show
        </a>
        <ActionButton
          label={`Hand off ${formatCount(Math.min(count, MOST_MOVED))}…`}
          of={`with the error ${error}`}
          confirm={{
            title: `Hand off ${formatCount(Math.min(count, MOST_MOVED), "event")}?`,
            text: "The callback gets each of them again now: those that wait, and the dead ones.",
            action: "Hand off",
          }}
          run={handOff}
        />
      </div>
    </>
  );
}

/** A quote in the error would end the term. */
function searchOf(error: string, endpoint: string | undefined): string {
  return `error:"${error.replaceAll('"', "…")}"${endpoint === undefined ? "" : ` endpoint:${endpoint}`}`;
}

interface RefusedPanelProps {
  refusals: Overview["refusals"];
  /** The event that was looked for; its refusals are shown alone, if there are any. */
  eventId?: string | undefined;
}

/** The deliveries that were refused in the last 24 hours. Nothing in them is proved. */
export function RefusedPanel({ refusals: { byCode, examples }, eventId }: RefusedPanelProps) {
  // With several endpoints the one of the event stands before its id.
  const own = examples.filter(({ eventId: id }) => id !== null && `/${eventId}`.endsWith(`/${id}`));
  const shown = eventId === undefined ? examples : own;
  const counts = byCode.map(({ code, count }) => `${formatCount(count)} ${code}`).join(", ");
  const textOf = new Map(byCode.map(({ code, text }) => [code, text]));
  if (byCode.length === 0 || (eventId !== undefined && own.length === 0)) {
    return eventId === undefined ? null : (
      <p class="muted">No refused delivery that is kept claims this id.</p>
    );
  }
  return (
    <details class="panel folded" open={eventId !== undefined}>
      <summary>
        {own.length > 0 ? (
          <strong>Deliveries with this id were refused</strong>
        ) : (
          <>
            <strong>Refused in the last 24 hours:</strong> {counts}
          </>
        )}
      </summary>
      <ul class="rows" aria-label="Refused deliveries">
        {shown.map(({ at, code, address, eventId: id }, index) => (
          <li key={index}>
            <Moment at={at} full /> <strong>{code}</strong> {textOf.get(code)}
            {address !== null && ` from ${address}`}
            {id !== null && `, event ${id}`}
          </li>
        ))}
      </ul>
      <p class="muted">`signalbox doctor --url` finds out what is wrong with a receiver.</p>
    </details>
  );
}
