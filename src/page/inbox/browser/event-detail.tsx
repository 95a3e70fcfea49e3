import { useRef, useState } from "preact/hooks";
import {
  Badge,
  CodeBlock,
  CopyButton,
  Facts,
  href,
  Moment,
  Panel,
  Problem,
  request,
  RequestProblem,
  TimelineSteps,
  useData,
  usePage,
  View,
} from "../../parts/index.js";
import { inboxSteps } from "../../timeline/inbox-steps.js";
import type { EventAnswer, Overview } from "../inbox-api.js";
import { headlineOf, nextStep, toneOf, wordOf } from "./event-state.js";
import { findEvents, keysOf, withTerm } from "./find-events.js";
import { MoveButton } from "./move-events.js";
import { Payload } from "./payload.js";
import { differences, readPayload } from "./read-payload.js";
import { useKeys } from "./search-box.js";
import { RefusedPanel } from "./situation.js";

interface EventDetailProps {
  eventId: string;
  overview: Overview | undefined;
  /** The address of the list. */
  back: string;
}

const load = (id: string) => async (signal: AbortSignal) =>
  id ? request<EventAnswer>("GET", "api/event", { query: { id }, signal }) : undefined;

export function EventDetail({ eventId, overview, back }: EventDetailProps) {
  const { data, problem, reload } = useData(eventId, load(eventId));
  const actions = useRef<HTMLDivElement>(null);
  useKeys(["r"], () => {
    actions.current?.querySelector("button")?.click();
    return true;
  });
  const { text = eventId, about = "" } = data === undefined ? {} : headlineOf(data);
  const claims = (overview?.refusals.examples ?? []).filter((each) =>
    `/${eventId}`.endsWith(`/${each.eventId}`),
  );
  return (
    <View
      title={data?.title ?? [text, about].filter(Boolean).join(" · ")}
      actions={
        data !== undefined && (
          <div ref={actions} class="toolbar">
            <MoveButton
              eventIds={[eventId]}
              kind="replay"
              whyNot={
                data.state === "leased"
                  ? "Its callback runs now."
                  : data.bytes === null
                    ? "Its payload was deleted."
                    : undefined
              }
              isWaiting={data.state === "ready"}
            />
            {(data.state === "dead" || data.state === "quarantined") && (
              <MoveButton eventIds={[eventId]} kind="discard" whyNot={undefined} />
            )}
          </div>
        )
      }
      above={
        <div class="toolbar hint">
          <a href={back}>← All events</a>
          <CopyButton label="Copy link" text={location.href} />
          {data?.senderUrl && (
            <a href={data.senderUrl} target="_blank" rel="noreferrer">
              Open at {data.sender}
            </a>
          )}
        </div>
      }
    >
      <Problem of={problem} onRetry={reload} />
      {problem instanceof RequestProblem && problem.status === 404 && claims.length > 0 && (
        <RefusedPanel
          refusals={{ byCode: [], ...overview?.refusals, examples: claims }}
          eventId={eventId}
        />
      )}
      {data === undefined && problem === undefined && <p class="muted">Loading…</p>}
      {data !== undefined && (
        <>
          <State event={data} overview={overview} />
          <div class="halves">
            <div class="stack">
              <EventTimeline event={data} />
              {data.subject !== null && <SameSubject event={data} keyOf={keysOf(overview)} />}
              <EventFacts event={data} />
            </div>
            <div class="stack">
              <Payload event={data} of={eventId} />
            </div>
          </div>
        </>
      )}
    </View>
  );
}

/** What became of it, what is next, and why it fails. */
function State({ event, overview }: { event: EventAnswer; overview: Overview | undefined }) {
  const { now } = usePage();
  const { state, endpoint, lastError } = event;
  const facts = overview?.endpoints.find((each) => each.endpoint === endpoint)?.facts;
  return (
    <>
      <p class="toolbar">
        <span role="status">
          <Badge tone={toneOf(state)}>{wordOf(state)}</Badge>
        </span>
        {event.replayed && <Badge tone="idle">replayed</Badge>}
        {event.backfilled && <Badge tone="idle">backfilled</Badge>}
        {event.possiblyRepeated && <Badge tone="warn">possibly repeated</Badge>}
        <span class="grows">{nextStep(event, now, facts)}</span>
      </p>
      {lastError !== null && state !== "done" && state !== "quarantined" && (
        <div class="failed">
          <CodeBlock label="Last error" text={lastError} />
        </div>
      )}
    </>
  );
}

/** A value, as a link to the events that have it too. */
const linkTo = (term: string, value: string | null) =>
  value !== null && <a href={href([], { q: `${term}:${value}` })}>{value}</a>;

const code = (text: string) => <code>{text}</code>;

function EventFacts({ event }: { event: EventAnswer }) {
  const { eventId, endpoint, type, subtype, subject, sender, headers } = event;
  return (
    <Panel title="Facts">
      <Facts
        of={{
          endpoint: linkTo("endpoint", endpoint),
          id: code(eventId),
          type: type !== "" && type,
          subtype: linkTo("subtype", subtype),
          subject: linkTo("subject", subject),
          sender,
          received: <Moment at={event.receivedAt} full />,
          "SHA-256": code(event.bodyHash),
          ...Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, code(value)]),
          ),
        }}
      />
    </Panel>
  );
}

/** What happened to it in the inbox: the side of its sender is not known here. */
function EventTimeline({ event }: { event: EventAnswer }) {
  const { now } = usePage();
  // Its error and its state are said above.
  const steps = inboxSteps(event, now)
    .filter(({ kind }) => kind !== "dead" && kind !== "quarantined")
    .map(({ detail, ...step }) =>
      detail === undefined || detail === event.lastError ? step : { ...step, detail },
    );
  return (
    <Panel title="Timeline">
      <TimelineSteps steps={steps} now={now} />
    </Panel>
  );
}

const MOST_EVENTS = 12;
const MOST_ROWS = 30;

/**
 * The events of its subject at its endpoint the newest on one axis. When a person asks, what its
 * payload has other than the one before, of its type if there is one.
 */
function SameSubject({ event, keyOf }: { event: EventAnswer; keyOf: ReturnType<typeof keysOf> }) {
  const { now } = usePage();
  const [isOpen, setOpen] = useState(false);
  const { endpoint, subject, seq } = event;
  const search = withTerm(`endpoint:${endpoint}`, "subject", subject ?? "");
  const { data = [] } = useData(
    "events",
    async (signal) => {
      const { events } = await findEvents({ search }, MOST_EVENTS, signal);
      return events.toReversed();
    },
    // What happens to other events does not load it again.
    event.dueAt,
  );
  const earlier = data.filter((each) => each.seq < seq);
  const before =
    earlier.findLast((each) => headlineOf(each).text === headlineOf(event).text) ?? earlier.at(-1);
  const id = isOpen && before ? keyOf(before) : "";
  const { data: loaded, problem } = useData(id, load(id), 0);
  if (data.length < 2) return null;
  const steps = data.map((each) => ({
    lane: "inbox" as const,
    kind: "received" as const,
    at: each.receivedAt,
    tone: toneOf(each.state),
    text: `${headlineOf(each).text}, ${wordOf(each.state)}`,
    ...(each.seq !== seq && { href: href(["events", keyOf(each)], { q: search }) }),
  }));
  const own = readPayload(event);
  const old = loaded && readPayload(loaded);
  const rows = old && own ? differences(old.value, own.value) : [];
  return (
    <Panel title={`Same subject: ${subject}`}>
      <TimelineSteps steps={steps} now={now} />
      {before && own && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            Difference to the {headlineOf(before).text} before, <Moment at={before.receivedAt} />
          </summary>
          <Problem of={problem} />
          <ul class="mono">
            {rows.slice(0, MOST_ROWS).map(([path, was, is]) => (
              <li key={path}>
                {path} {was ? <del class="bad">{short(was)}</del> : "added"} {was && is && "→ "}
                {is ? <ins class="good">{short(is)}</ins> : "removed"}
              </li>
            ))}
          </ul>
          <p class="muted">
            {rows[MOST_ROWS] && `and ${rows.length - MOST_ROWS} more`}
            {loaded &&
              !rows[0] &&
              (old
                ? "No value differs."
                : `The payload before is ${loaded.bytes === null ? "deleted" : "too large, or a text"}.`)}
          </p>
        </details>
      )}
    </Panel>
  );
}

const short = (json: string): string => json.replace(/(?<=^.{200}).+/su, "…");
