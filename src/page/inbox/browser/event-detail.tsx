import { formatBytes, formatCount } from "../../../base/text/format.js";
import { DEFAULT_SENDER, type EventState } from "../../../kit/inbox/stored-events.js";
import {
  address,
  Badge,
  CodeBlock,
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
import { headlineOf, nextStep, toneOf } from "./event-state.js";
import { MoveButton } from "./move-events.js";
import { RefusedPanel, SituationLine } from "./situation.js";

interface EventDetailProps {
  eventId: string;
  overview: Overview | undefined;
  /** The address of the list. */
  back: string;
}

const DISCARDABLE: ReadonlySet<EventState> = new Set(["dead", "quarantined"] as const);

function whyNoReplay({ state, bytes }: EventAnswer): string | undefined {
  if (state === "leased") return "Its callback runs now.";
  return bytes === null ? "Its payload was deleted." : undefined;
}

function whyNoDiscard({ state }: EventAnswer): string | undefined {
  return DISCARDABLE.has(state)
    ? undefined
    : "Only a dead or a quarantined event can be discarded.";
}

export function EventDetail({ eventId, overview, back }: EventDetailProps) {
  const { data, problem, reload } = useData(eventId, (signal) =>
    request<EventAnswer>("GET", "api/event", { query: { id: eventId }, signal }),
  );
  const move = { eventIds: [eventId] };
  return (
    <View
      title={data === undefined ? eventId : headingOf(data)}
      actions={
        data !== undefined && (
          <>
            <MoveButton
              {...move}
              kind="replay"
              whyNot={whyNoReplay(data)}
              isWaiting={data.state === "ready"}
            />
            <MoveButton {...move} kind="discard" whyNot={whyNoDiscard(data)} />
          </>
        )
      }
      above={<a href={back}>← All events</a>}
    >
      <Problem of={problem} onRetry={reload} />
      {problem instanceof RequestProblem && problem.status === 404 && overview !== undefined && (
        <RefusedPanel refusals={overview.refusals} eventId={eventId} />
      )}
      {overview !== undefined && data !== undefined && data.state === "ready" && (
        <SituationLine overview={overview} />
      )}
      {data === undefined && problem === undefined && <p class="muted">Loading…</p>}
      {data !== undefined && <Detail event={data} />}
    </View>
  );
}

/** The title of a signal, or what the event is. */
function headingOf(event: EventAnswer): string {
  if (event.title !== null) return event.title;
  const { text, about } = headlineOf(event);
  return about === "" ? text : `${text} · ${about}`;
}

function Detail({ event }: { event: EventAnswer }) {
  const { now } = usePage();
  return (
    <>
      <p class="toolbar" role="status">
        <Badge tone={toneOf(event.state)}>{event.state}</Badge>
        {event.replayed && <Badge tone="idle">replayed</Badge>}
        {event.backfilled && <Badge tone="idle">backfilled</Badge>}
        {event.possiblyRepeated && <Badge tone="warn">possibly repeated</Badge>}
        <span class="grows">{nextStep(event, now)}</span>
        <code>{event.eventId}</code>
      </p>
      <div class="halves">
        <div class="stack">
          <EventTimeline event={event} />
          <EventFacts event={event} />
          <Headers event={event} />
        </div>
        <div class="stack">
          <Payload event={event} />
        </div>
      </div>
    </>
  );
}

/** A value, as a link to the events that have it too. */
const linkTo = (term: string, value: string | null) =>
  value === null ? "none" : <a href={href([], { q: `${term}:${value}` })}>{value}</a>;

function EventFacts({ event }: { event: EventAnswer }) {
  const {
    type,
    subtype,
    subject,
    sender,
    state,
    dueAt,
    receivedAt,
    signedAt,
    attempts,
    crashes,
    bytes,
    bodyHash,
  } = event;
  const isDefault = sender === DEFAULT_SENDER;
  const due = { ready: "due", leased: "lease ends" }[state as string] ?? `${state} since`;
  return (
    <Panel title="Facts">
      <Facts
        of={{
          type: type || "none",
          [isDefault ? "signal type" : "subtype"]: linkTo("subtype", subtype),
          [isDefault ? "product" : "subject"]: linkTo("subject", subject),
          sender: !isDefault && sender,
          signed: signedAt !== null && <Moment at={signedAt} full />,
          received: <Moment at={receivedAt} full />,
          [due]: <Moment at={dueAt} full />,
          attempts: formatCount(attempts),
          crashes: formatCount(crashes),
          size: bytes === null ? "payload deleted" : formatBytes(bytes),
          "SHA-256": <code>{bodyHash}</code>,
        }}
      />
    </Panel>
  );
}

/** What happened to it in the inbox: the side of its sender is not known here. */
function EventTimeline({ event }: { event: EventAnswer }) {
  const { now } = usePage();
  return (
    <Panel title="Timeline">
      <TimelineSteps steps={inboxSteps(event, now)} now={now} />
    </Panel>
  );
}

function Payload({ event: { eventId, payload, isCut, hex, bytes } }: { event: EventAnswer }) {
  return (
    <Panel title="Payload">
      {bytes !== null && (
        <p>
          <a class="button" href={address("api/bytes", { id: eventId })} download>
            Download the bytes
          </a>
        </p>
      )}
      {bytes === null && (
        <p class="muted">It is deleted, by a discard or because the event was done long ago.</p>
      )}
      {bytes !== null && payload === null && <p class="muted">It is not text in UTF-8.</p>}
      {isCut && <p class="muted">It is too large to be shown whole. Download it.</p>}
      {payload !== null && (
        <CodeBlock
          text={payload}
          label={isCut ? "The beginning, as text" : "As text, JSON indented"}
          wrap
        />
      )}
      {hex !== null && (
        <details open={payload === null}>
          <summary>Raw bytes</summary>
          <CodeBlock text={hexLines(hex)} label="As hex" />
        </details>
      )}
    </Panel>
  );
}

function Headers({ event }: { event: EventAnswer }) {
  const headers = Object.entries(event.headers).map(
    ([name, value]) => [name, <code key={name}>{value}</code>] as const,
  );
  return (
    <Panel title="Headers">
      {headers.length === 0 ? (
        <p class="muted">None are kept.</p>
      ) : (
        <Facts of={Object.fromEntries(headers)} />
      )}
    </Panel>
  );
}

/** The offset, and 16 bytes, in each line. */
function hexLines(hex: string): string {
  const lines = hex.match(/.{1,32}/g) ?? [];
  return lines
    .map(
      (line, index) =>
        `${(index * 16).toString(16).padStart(4, "0")}  ${(line.match(/../g) ?? []).join(" ")}`,
    )
    .join("\n");
}
