import { ActionButton } from "../../parts/action-button.js";
import { Moment } from "../../parts/panel.js";
import type { Said } from "../../parts/page-root.js";
import { href } from "../../parts/use-route.js";
import { formatCount } from "../../../base/text/format.js";
import { visible } from "../../../base/text/visible-text.js";
import type { FailureRow } from "../inbox-api.js";
import { findEvents } from "./find-events.js";
import { moveEvents } from "./move-events.js";

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
    .map(({ count, error }) => `${formatCount(count)} × ${visible(error)}`);
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
  const about = [
    ...subjects.map(visible),
    ...(others > 0 ? [`${formatCount(others)} more`] : []),
  ].join(", ");

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
        <strong>{formatCount(count)}</strong> <span class="mono problem">{visible(error)}</span>
      </p>
      <div class="toolbar">
        <span class="muted grows">
          {endpoint !== undefined && `${visible(endpoint)}; `}
          {states.filter((state) => state !== "").join(", ")}; first failed{" "}
          <Moment at={firstSeen} />, last <Moment at={lastSeen} />
          {about !== "" && `; ${about}`}
        </span>
        <a class="button" href={href([], { q: search })}>
          Show
        </a>
        <ActionButton
          label={`Hand off ${formatCount(Math.min(count, MOST_MOVED))}…`}
          of={`with the error ${visible(error)}`}
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
