import { formatCount } from "../../../base/text/format.js";
import { describeSituation } from "../../../kit/inbox/situation/situation.js";
import { ActionButton, href, Moment, request, type Said, usePage } from "../../parts/index.js";
import type { FailureRow, Overview } from "../inbox-api.js";
import { findEvents, keysOf } from "./find-events.js";
import { useMove } from "./move-events.js";

type EndpointRow = Overview["endpoints"][number];

export const isPaused = ({ facts }: EndpointRow): boolean => facts.pause !== null;

/** What a person must know at once, besides a pause. */
const STOPS = new Set<string>([
  "inbox_not_storing",
  "inbox_behind",
  "inbox_not_owned",
  "inbox_quiet",
]);

interface SituationLineProps {
  overview: Overview;
  /** Only this one. */
  endpoint?: string | undefined;
}

/** The endpoint that is paused, or else one that is behind, in one line; nothing when none is. */
export function SituationLine({ overview, endpoint }: SituationLineProps) {
  const { now } = usePage();
  const { endpoints, paused } = overview;
  const rows = endpoints
    .filter((row) => row.endpoint === (endpoint ?? row.endpoint))
    .map((row) => {
      const { problems } = describeSituation({ ...row.facts, now });
      return { ...row, problem: problems.find(({ id }) => STOPS.has(id)) };
    });
  const row = rows.find(isPaused) ?? rows.find(({ problem }) => problem !== undefined);
  const pause = row?.facts.pause;
  const name = endpoints.length > 1 && row?.endpoint;
  return (
    <div role="status">
      {row && (
        <p class="alert bad">
          <strong>{pause ? `${name || "The inbox"} is paused` : name}</strong>
          {pause ? (
            <span class="grows">
              {pause.error} · since <Moment at={pause.since} short /> · {row.facts.ready} waiting ·
              next try <Moment at={pause.nextTryAt} />
            </span>
          ) : (
            row.problem?.text
          )}
          {pause && paused === "callback_failing" && (
            <ActionButton label="Try one event now" run={tryOne} />
          )}
        </p>
      )}
    </div>
  );
}

async function tryOne(): Promise<string> {
  await request("POST", "api/retry", { body: { eventIds: [] } });
  return "One event is tried now.";
}

interface FailuresProps {
  overview: Overview;
  /** Its failures alone. */
  endpoint: string | undefined;
}

/** As many as the server moves at once. */
const MOST_MOVED = 1000;

/** The errors of the events that fail now, with what to do about each, and what was refused. */
export function Failures({ overview, endpoint }: FailuresProps) {
  const failures = overview.failures
    .filter((failure) => failure.endpoint === (endpoint ?? failure.endpoint))
    .sort((a, b) => b.count - a.count);
  const isRefusing = overview.refusals.byCode.length > 0;
  if (failures.length === 0 && !isRefusing) return null;
  return (
    <section class="panel issues" aria-label="What fails">
      <ul aria-label="Failures">
        {failures.map((failure) => (
          <li key={`${failure.endpoint} ${failure.error}`}>
            <Issue failure={failure} overview={overview} />
          </li>
        ))}
      </ul>
      <div class="toolbar">
        {failures.length > 3 && formatCount(failures.length, "error")}
        {isRefusing && <RefusedPanel refusals={overview.refusals} />}
      </div>
    </section>
  );
}

function Issue({ failure, overview }: { failure: FailureRow; overview: Overview }) {
  const {
    error,
    count,
    waiting,
    dead,
    firstSeen,
    lastSeen,
    subjects,
    subjectCount,
    heldCount,
    spans = [],
  } = failure;
  const handOver = useMove();
  const endpoint = overview.endpoints.length > 1 && failure.endpoint;
  // A quote in the error would end the term.
  const term = `error:"${error.replaceAll('"', "…")}"`;
  const search = endpoint === false ? term : `${term} endpoint:${endpoint}`;
  const parts = [
    endpoint,
    waiting > 0 && `${formatCount(waiting)} waiting`,
    heldCount > 0 && `${formatCount(heldCount)} behind them`,
    dead > 0 && `${formatCount(dead)} given up`,
    subjects.slice(0, 3).join(", "),
    subjectCount > 3 && formatCount(subjectCount, "subject"),
  ];

  async function handOff(): Promise<Said> {
    const found = await Promise.all(
      ["ready", "dead"].map((state) =>
        findEvents({ search: `state:${state} ${search}` }, MOST_MOVED),
      ),
    );
    const events = found.flatMap((each) => each.events).slice(0, MOST_MOVED);
    if (events.length === 0) return "None of them fails any more.";
    return handOver("replay", events.map(keysOf(overview)));
  }

  const most = formatCount(Math.min(count, MOST_MOVED));
  return (
    <>
      <strong>{formatCount(count)}</strong>
      <p>
        <a class="mono" href={href([], { q: search })} title={error}>
          {error}
        </a>
        <span class="muted">{parts.filter(Boolean).join(" · ")}</span>
      </p>
      <span class="muted">
        <svg
          class="bars"
          viewBox="0 0 12 8"
          preserveAspectRatio="none"
          role="img"
          aria-label={`First failures: ${spans.join(", ")}`}
        >
          <path
            d={spans
              .map((each, x) => `M${x} 8v-${Math.ceil((8 * each) / Math.max(...spans))}h.8V8`)
              .join("")}
          />
        </svg>
        <Moment at={firstSeen} /> → <Moment at={lastSeen} />
      </span>
      <ActionButton
        label={`Hand off ${most}`}
        of={`with the error ${error}`}
        confirm={{
          title: `Hand off ${most}?`,
          text: "The callback gets each of them again now: those that wait, and those that were given up.",
          action: "Hand off",
        }}
        run={handOff}
      />
    </>
  );
}

interface RefusedPanelProps {
  refusals: Overview["refusals"];
  /** Only its refusals are shown. */
  eventId?: string | undefined;
}

/** The deliveries that were refused in the last 24 hours. Nothing in them is proved. */
export function RefusedPanel({ refusals: { byCode, examples }, eventId }: RefusedPanelProps) {
  const shown = examples.filter((example) => example.eventId === (eventId ?? example.eventId));
  const counts = byCode.map(({ code, count }) => `${formatCount(count)} ${code}`).join(", ");
  const textOf = new Map(byCode.map(({ code, text }) => [code, text]));
  if (shown.length === 0) return null;
  return (
    <details class="muted" open={eventId !== undefined}>
      <summary>
        {eventId === undefined
          ? `Refused in the last 24 hours: ${counts}`
          : "Deliveries with this id were refused"}
      </summary>
      <ul class="rows" aria-label="Refused deliveries">
        {shown.map(({ at, code, address, eventId: id }, index) => (
          <li key={index}>
            <Moment at={at} full /> <strong>{code}</strong>
            {address !== null && ` from ${address}`}
            {id !== null && `, event ${id}`}: {textOf.get(code)}
          </li>
        ))}
      </ul>
      <p class="muted">`signalbox doctor --url` finds out what is wrong with a receiver.</p>
    </details>
  );
}
