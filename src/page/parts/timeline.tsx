import { formatTime } from "../../base/text/format.js";
import { gapBefore, type TimelineStep } from "../timeline/timeline-step.js";
import { CodeBlock } from "./panel.js";

interface TimelineProps {
  /** The earliest first. */
  steps: readonly TimelineStep[];
  /** The present, on the axis of the steps. */
  now: number;
}

const LANES = { sender: "Sender", inbox: "Inbox" } as const;

/** The steps of an event, of one side or of both, on one axis, and the time between them. */
export function TimelineSteps({ steps, now }: TimelineProps) {
  const hasBoth = steps.some(({ lane }) => lane === "sender");
  return (
    <ol class={hasBoth ? "timeline both" : "timeline"}>
      {steps.map((step, index) => (
        <Step
          key={`${step.lane} ${index}`}
          step={step}
          previous={steps[index - 1]}
          hasBoth={hasBoth}
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
  /** The step before it in its lane is of another delivery. */
  isNewDelivery: boolean;
}

function Step({ step, previous, hasBoth, isNewDelivery, now }: StepProps) {
  const { lane, at, tone, text, detail = "", delivery, serviceAt } = step;
  const gap = gapText(step, previous, now);
  const [first = "", ...more] = detail.split("\n");
  return (
    <li class={lane}>
      {gap !== "" && <p class="gap muted">{gap}</p>}
      <time dateTime={new Date(at).toISOString()} class="mono muted">
        {new Date(at).toISOString().slice(11, 23)}
      </time>
      <span class={`mark ${tone}`} aria-hidden="true" />
      <div class="what">
        <p>
          {hasBoth && <span class="muted">{LANES[lane]} </span>}
          <span class={tone === "bad" ? "problem" : undefined}>{text}</span>
        </p>
        {isNewDelivery && delivery !== undefined && <p class="hint">{delivery}</p>}
        {serviceAt !== undefined && (
          <p class="hint">{formatTime(serviceAt)} by the service's clock</p>
        )}
        {detail !== "" && more.length === 0 && <p class="hint">{first}</p>}
        {more.length > 0 && (
          <details>
            <summary class="hint">{first}</summary>
            <CodeBlock label={`${text}: all of it`} text={detail} wrap />
          </details>
        )}
      </div>
    </li>
  );
}

/** The time since the step before, if that is long, and the day, if it is another one. */
function gapText(step: TimelineStep, previous: TimelineStep | undefined, now: number): string {
  const day = formatTime(step.at).slice(0, 10);
  const isNewDay = previous === undefined || formatTime(previous.at).slice(0, 10) !== day;
  return [gapBefore(step, previous, now), isNewDay ? day : ""].filter(Boolean).join(", ");
}
