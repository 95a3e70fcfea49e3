import { formatDuration } from "../../base/text/format.js";
import { gapBefore, type TimelineStep } from "../timeline/timeline-step.js";
import { formatTime, otherTime } from "./clock-choice.js";
import { CodeBlock } from "./panel.js";

interface TimelineProps {
  /** The earliest first. */
  steps: readonly TimelineStep[];
  /** The present, on the axis of the steps. */
  now: number;
}

const LANES = { sender: "Sender", inbox: "Inbox" } as const;

/**
 * The steps of an event, of one side or of both, on one axis, and the time between them. Of the
 * inbox alone each has a bar from the step before it: the wait and the attempt, since the inbox
 * stores no more of an attempt than its end.
 */
export function TimelineSteps({ steps, now }: TimelineProps) {
  const hasBoth = steps.some(({ lane }) => lane === "sender");
  const times = [steps[0]?.at ?? 0, steps.at(-1)?.at ?? 0] as const;
  return (
    <ol class={hasBoth ? "timeline both" : "timeline"}>
      {steps.map((step, index) => (
        <Step
          key={`${step.lane} ${index}`}
          step={step}
          previous={steps[index - 1]}
          hasBoth={hasBoth}
          times={times}
          isNewDelivery={
            step.delivery !==
            steps.slice(0, index).findLast(({ lane }) => lane === step.lane)?.delivery
          }
          now={now}
        />
      ))}
    </ol>
  );
}

interface StepProps extends Pick<TimelineProps, "now"> {
  step: TimelineStep;
  previous: TimelineStep | undefined;
  /** The steps of both sides are there. */
  hasBoth: boolean;
  /** Those of the first step and of the last. */
  times: readonly [number, number];
  /** The step before it in its lane is of another delivery. */
  isNewDelivery: boolean;
}

function Step({ step, previous, hasBoth, times, isNewDelivery, now }: StepProps) {
  const { lane, at, tone, text, detail = "", delivery, serviceAt, href } = step;
  const gap = gapText(step, previous, hasBoth ? gapBefore(step, previous, now) : "");
  const [first = "", ...more] = detail.split("\n");
  const from = previous?.at ?? at;
  const share = (ms: number): string => `${(100 * ms) / (times[1] - times[0])}%`;
  return (
    <li class={lane}>
      {gap !== "" && <p class="gap muted">{gap}</p>}
      <time dateTime={new Date(at).toISOString()} title={otherTime(at)} class="mono muted">
        {formatTime(at).slice(11, 19)}
      </time>
      {hasBoth ? (
        <span class={`mark ${tone}`} aria-hidden="true" />
      ) : (
        <span
          class={`bar ${tone}`}
          style={{ marginInlineStart: share(from - times[0]), width: share(at - from) }}
          aria-hidden="true"
        />
      )}
      <div class="what">
        <p>
          {hasBoth && <span class="muted">{LANES[lane]} </span>}
          <a class={tone === "bad" ? "problem" : undefined} {...(href && { href })}>
            {text}
          </a>
          {!hasBoth && at > from && <span class="muted"> +{formatDuration(at - from)}</span>}
        </p>
        {isNewDelivery && delivery !== undefined && <p class="hint">{delivery}</p>}
        {serviceAt !== undefined && (
          <p class="hint">{formatTime(serviceAt)} by the service's clock</p>
        )}
        {detail !== "" && more.length === 0 && <p class="hint">{first}</p>}
        {more.length > 0 && (
          <details>
            <summary class="hint">{first}</summary>
            <CodeBlock label={`${text}: all of it`} text={detail} />
          </details>
        )}
      </div>
    </li>
  );
}

/** With its zone. */
const dayOf = ({ at }: TimelineStep): string => formatTime(at).replace(/ \S+/, "");

/** The gap before it, and the day with its zone, if it is another one. */
function gapText(step: TimelineStep, previous: TimelineStep | undefined, gap: string): string {
  const isNewDay = previous === undefined || dayOf(previous) !== dayOf(step);
  return [gap, isNewDay ? dayOf(step) : ""].filter(Boolean).join(", ");
}
