import { DEFAULT_SENDER, NO_HANDLER, type EventState, type PastStep } from "../../inbox/stored-events.js";
import type { EventAnswer } from "../inbox-api.js";
import { CodeBlock } from "../../browser-parts/code-block.js";
import { formatBytes, formatCount } from "../../text/format.js";
import { usePage, View } from "../../browser-parts/page-frame.js";
import { Badge } from "../../browser-parts/badge.js";
import { Facts, Moment, Panel, Problem } from "../../browser-parts/panel.js";
import { address, request, RequestProblem } from "../../browser-parts/request.js";
import { useData } from "../../browser-parts/use-data.js";
import { visible, visibleLines } from "../../text/visible-text.js";
import { firstLine, nextStep, toneOf } from "./event-state.js";
import { RefusedPanel } from "./refusals.js";
import { SituationLine } from "./situation-line.js";
import { MoveButton } from "./move-events.js";
import type { Live } from "./use-live-inbox.js";

interface EventDetailProps {
  eventId: string;
  live: Live;
  /** The address of the list. */
  back: string;
}

const DISCARDABLE: ReadonlySet<EventState> = new Set(["dead", "quarantined"] as const);

function whyNoReplay({ state, bytes }: EventAnswer): string | undefined {
  if (state === "leased") return "Its callback runs now.";
  return bytes === null ? "Its payload was deleted." : undefined;
}

function whyNoDiscard({ state }: EventAnswer): string | undefined {
  return DISCARDABLE.has(state) ? undefined : "Only a dead or a quarantined event can be discarded.";
}

export function EventDetail({ eventId, live: { version, overview }, back }: EventDetailProps) {
  const { data, problem, reload } = useData(version, (signal) =>
    request<EventAnswer>("GET", "api/event", { query: { id: eventId }, signal }),
  );
  const move = { eventIds: [eventId] };
  return (
    <View
      title={visible(eventId)}
      actions={
        data !== undefined && (
          <>
            <MoveButton {...move} kind="replay" whyNot={whyNoReplay(data)} isWaiting={data.state === "ready"} />
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
      {overview !== undefined && data !== undefined && data.state === "ready" && <SituationLine overview={overview} />}
      {data === undefined && problem === undefined && <p class="muted">Loading…</p>}
      {data !== undefined && <Detail event={data} />}
    </View>
  );
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
        <span>{nextStep(event, now)}</span>
      </p>
      <div class="halves">
        <div class="stack">
          <Attempts event={event} />
          <Payload event={event} />
        </div>
        <div class="stack">
          <EventFacts event={event} />
          <Headers event={event} />
        </div>
      </div>
    </>
  );
}

function EventFacts({ event }: { event: EventAnswer }) {
  const { type, subtype, subject, sender, state, dueAt, receivedAt, attempts, crashes, bytes, bodyHash } = event;
  const isDefault = sender === DEFAULT_SENDER;
  const due = { ready: "due", leased: "lease ends" }[state as string] ?? `${state} since`;
  return (
    <Panel title="Facts">
      <Facts
        rows={[
          ["type", visible(type) || "none"],
          [isDefault ? "signal type" : "subtype", visible(subtype ?? "none")],
          [isDefault ? "product" : "subject", visible(subject ?? "none")],
          ...(isDefault ? [] : [["sender", visible(sender)] as const]),
          ["received", <Moment key="received" at={receivedAt} full />],
          [due, <Moment key="due" at={dueAt} full />],
          ["attempts", formatCount(attempts)],
          ["crashes", formatCount(crashes)],
          ["size", bytes === null ? "payload deleted" : formatBytes(bytes)],
          ["SHA-256", <code key="hash">{bodyHash}</code>],
        ]}
      />
    </Panel>
  );
}

/** Every step that is kept, the newest first, and the present error when no step has it. */
function Attempts({ event: { state, history, lastError } }: { event: EventAnswer }) {
  const isElsewhere =
    state === "quarantined" || lastError === NO_HANDLER || history.some(({ error }) => error === lastError);
  return (
    <Panel title="Attempts">
      {lastError !== null && !isElsewhere && <ErrorText error={lastError} label="Last error" isOpen />}
      {history.length === 0 && (lastError === null || isElsewhere) && <p class="muted">No attempt has failed.</p>}
      {history.length > 0 && (
        <ol class="stack">
          {history.toReversed().map((step, index) => (
            <li key={history.length - index}>
              <Step step={step} isNewest={index === 0} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Step({ step, isNewest }: { step: PastStep; isNewest: boolean }) {
  const { kind, attempts, at, error } = step;
  const words = {
    failed: `Attempt ${formatCount(attempts)} failed`,
    crashed: "The process ended during the hand-off",
    replayed: `Replayed by hand after ${formatCount(attempts, "attempt")}`,
  };
  return (
    <>
      <p>
        <strong>{words[kind]}</strong>{" "}
        <span class="muted">
          <Moment at={at} full />
        </span>
      </p>
      {error !== null && <ErrorText error={error} label="Error and stack" isOpen={isNewest} />}
    </>
  );
}

function ErrorText({ error, label, isOpen }: { error: string; label: string; isOpen: boolean }) {
  if (!error.includes("\n")) return <p class="mono problem">{visibleLines(error)}</p>;
  return (
    <details open={isOpen}>
      <summary class="mono problem">
        <span class="clamped">{visible(firstLine(error))}</span>
      </summary>
      <CodeBlock text={error} label={label} wrap />
    </details>
  );
}

function Payload({ event: { eventId, payload, hex, bytes } }: { event: EventAnswer }) {
  return (
    <Panel title="Payload">
      {bytes !== null && (
        <p>
          <a class="button" href={address("api/bytes", { id: eventId })} download>
            Download the bytes
          </a>
        </p>
      )}
      {bytes === null && <p class="muted">It is deleted, by a discard or because the event was done long ago.</p>}
      {bytes !== null && payload === null && <p class="muted">It is not text in UTF-8.</p>}
      {payload !== null && <CodeBlock text={payload} label="As text, JSON indented" wrap />}
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
    ([name, value]) => [visible(name), <code key={name}>{visible(value)}</code>] as const,
  );
  return (
    <Panel title="Headers">
      {headers.length === 0 ? <p class="muted">None are kept.</p> : <Facts rows={headers} />}
    </Panel>
  );
}

/** The offset, and 16 bytes, in each line. */
function hexLines(hex: string): string {
  const lines = hex.match(/.{1,32}/g) ?? [];
  return lines
    .map((line, index) => `${(index * 16).toString(16).padStart(4, "0")}  ${(line.match(/../g) ?? []).join(" ")}`)
    .join("\n");
}
