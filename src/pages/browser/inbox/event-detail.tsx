import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { PastStep } from "../../../inbox/stored-events.js";
import type { EventAnswer } from "../../inbox-page/inbox-api.js";
import { Badge } from "../parts/badge.js";
import { CodeBlock } from "../parts/code-block.js";
import { formatBytes, formatCount } from "../parts/format.js";
import { LoadProblem } from "../parts/load-problem.js";
import { Moment } from "../parts/moment.js";
import { View } from "../parts/page-frame.js";
import { address, request } from "../parts/request.js";
import { useData } from "../parts/use-data.js";
import { visible, visibleLines } from "../parts/visible-text.js";
import { canDiscard, canReplay, firstLine, nextStep, toneOf } from "./event-state.js";
import { MoveButton, MoveDialog, type Move } from "./move-events.js";
import type { Live } from "./use-live.js";

interface EventDetailProps {
  eventId: string;
  live: Live;
  brand: string;
  /** The address of the list. */
  back: string;
}

export function EventDetail({ eventId, live, brand, back }: EventDetailProps): JSX.Element {
  const load = (signal: AbortSignal): Promise<EventAnswer> =>
    request<EventAnswer>("GET", "api/event", { query: { id: eventId }, signal });
  const { data: event, problem, reload } = useData(load, [live.version]);
  const [move, setMove] = useState<Move["kind"]>();

  return (
    <View
      title={visible(eventId)}
      brand={brand}
      actions={
        event !== undefined && (
          <>
            <MoveButton
              kind="replay"
              isAllowed={canReplay(event) && event.bytes !== null}
              onClick={() => setMove("replay")}
            />
            <MoveButton kind="discard" isAllowed={canDiscard(event)} onClick={() => setMove("discard")} />
          </>
        )
      }
      above={<a href={back}>← All events</a>}
    >
      <LoadProblem problem={problem} onRetry={reload} />
      {event === undefined && problem === undefined && <p class="muted">Loading…</p>}
      {event !== undefined && <Detail event={event} now={live.now} />}
      {move !== undefined && (
        <MoveDialog move={{ kind: move, eventIds: [eventId] }} onClose={() => setMove(undefined)} />
      )}
    </View>
  );
}

function Detail({ event, now }: { event: EventAnswer; now: number }): JSX.Element {
  return (
    <>
      <p class="toolbar" role="status">
        <Badge tone={toneOf(event.state)}>{event.state}</Badge>
        {event.replayed && <Badge tone="idle">replayed</Badge>}
        {event.possiblyRepeated && <Badge tone="warn">possibly repeated</Badge>}
        <span>{nextStep(event, now)}</span>
      </p>
      <div class="halves">
        <div class="stack">
          <Attempts event={event} now={now} />
          <Payload event={event} />
        </div>
        <div class="stack">
          <Facts event={event} now={now} />
          <Headers event={event} />
        </div>
      </div>
    </>
  );
}

function Panel({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Pairs({ of: pairs }: { of: readonly [name: string, value: ComponentChildren][] }): JSX.Element {
  return (
    <dl class="facts">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Facts({ event, now }: { event: EventAnswer; now: number }): JSX.Element {
  const { type, signalType, product, state, dueAt, receivedAt, attempts, crashes, bytes, bodyHash } = event;
  const due = { ready: "due", leased: "lease ends" }[state as string] ?? `${state} since`;
  return (
    <Panel title="Facts">
      <Pairs
        of={[
          ["type", visible(type) || "none"],
          ["signal type", visible(signalType ?? "none")],
          ["product", visible(product ?? "none")],
          ["received", <Moment key="received" at={receivedAt} now={now} full />],
          [due, <Moment key="due" at={dueAt} now={now} full />],
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
function Attempts({ event: { state, history, lastError }, now }: { event: EventAnswer; now: number }): JSX.Element {
  const isElsewhere = state === "quarantined" || history.some(({ error }) => error === lastError);
  return (
    <Panel title="Attempts">
      {lastError !== null && !isElsewhere && <ErrorText error={lastError} label="Last error" isOpen />}
      {history.length === 0 && (lastError === null || isElsewhere) && <p class="muted">No attempt has failed.</p>}
      {history.length > 0 && (
        <ol class="plain stack">
          {history.toReversed().map((step, index) => (
            <li key={history.length - index}>
              <Step step={step} isNewest={index === 0} now={now} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Step({ step, isNewest, now }: { step: PastStep; isNewest: boolean; now: number }): JSX.Element {
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
          <Moment at={at} now={now} full />
        </span>
      </p>
      {error !== null && <ErrorText error={error} label="Error and stack" isOpen={isNewest} />}
    </>
  );
}

function ErrorText({ error, label, isOpen }: { error: string; label: string; isOpen: boolean }): JSX.Element {
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

function Payload({ event: { eventId, payload, hex, bytes } }: { event: EventAnswer }): JSX.Element {
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

function Headers({ event: { headers } }: { event: EventAnswer }): JSX.Element {
  const pairs = Object.entries(headers).map(([name, value]): [string, JSX.Element] => [
    visible(name),
    <code key={name}>{visible(value)}</code>,
  ]);
  return (
    <Panel title="Headers">{pairs.length === 0 ? <p class="muted">None are kept.</p> : <Pairs of={pairs} />}</Panel>
  );
}

/** The offset, and 16 bytes, in each line. */
function hexLines(hex: string): string {
  const lines = hex.match(/.{1,32}/g) ?? [];
  return lines
    .map((line, index) => `${(index * 16).toString(16).padStart(4, "0")}  ${(line.match(/../g) ?? []).join(" ")}`)
    .join("\n");
}
