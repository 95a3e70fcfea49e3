import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Badge } from "../../parts/badge.js";
import { CodeBlock } from "../../parts/code-block.js";
import { formatCount } from "../../parts/format.js";
import { Moment } from "../../parts/moment.js";
import type { Delivery } from "../control.js";

type Attempt = Delivery["attempts"][number];

/** What the endpoint answered, in a word or two. */
export function answerText(attempt: Attempt | undefined): string {
  if (attempt === undefined) return "none yet";
  return attempt.answer === null ? (attempt.failure ?? "none").replaceAll("_", " ") : String(attempt.answer.status);
}

/** Every request of a delivery with its answer, the newest first. */
export function Attempts({ delivery, now }: { delivery: Delivery; now: number }): JSX.Element {
  if (delivery.attempts.length === 0) return <p class="muted">Nothing has been sent yet.</p>;
  return (
    <ol class="attempts">
      {delivery.attempts.toReversed().map((attempt, index, { length }) => (
        <li key={length - index}>
          <AttemptDetails attempt={attempt} number={length - index} isNewest={index === 0} now={now} />
        </li>
      ))}
    </ol>
  );
}

interface AttemptDetailsProps {
  attempt: Attempt;
  number: number;
  isNewest: boolean;
  now: number;
}

function AttemptDetails({ attempt, number, isNewest, now }: AttemptDetailsProps): JSX.Element {
  // Only as it appears. Later the reader decides, also when a newer attempt comes.
  const [isOpen] = useState(isNewest);
  const { request, answer, faults, duration_ms, started_at } = attempt;
  const isGood = answer !== null && answer.status >= 200 && answer.status < 300;
  return (
    <details open={isOpen}>
      <summary>
        Attempt {number} <Badge tone={isGood ? "good" : "bad"}>{answerText(attempt)}</Badge>{" "}
        <span class="muted">
          {formatCount(Math.round(duration_ms))} ms, <Moment at={Date.parse(started_at)} now={now} />
          {faults.length > 0 && `, with the fault ${faults.map(({ kind }) => kind).join(", ")}`}
        </span>
      </summary>
      <div class="sides">
        <CodeBlock label={`Request headers of attempt ${number}`} text={headersText(request.headers)} wrap />
        {answer === null ? (
          <p class="problem">No answer: {answerText(attempt)}.</p>
        ) : (
          <div class="stack">
            <CodeBlock label={`Answer headers of attempt ${number}`} text={headersText(answer.headers)} wrap />
            {answer.body !== "" && <CodeBlock label={`Answer body of attempt ${number}`} text={answer.body} wrap />}
          </div>
        )}
      </div>
    </details>
  );
}

/** Within its 300 seconds a signature lets anyone repeat the request, so a picture of this page must not have it. */
const SIGNATURE = /^x-service-signature$/i;

const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${SIGNATURE.test(name) ? "not shown" : value}`)
    .join("\n");
