import type { Refusals } from "../../inbox/inbox-facts.js";
import { Moment, Panel } from "../../browser-parts/panel.js";
import { formatCount } from "../../text/format.js";
import { visible } from "../../text/visible-text.js";

interface RefusedPanelProps {
  refusals: Refusals;
  /** The event that was looked for; its refusals are shown alone, if there are any. */
  eventId?: string | undefined;
}

/** The deliveries that were refused in the last 24 hours. Nothing in them is proved. */
export function RefusedPanel({ refusals: { byCode, examples }, eventId }: RefusedPanelProps) {
  if (byCode.length === 0) {
    return eventId === undefined ? null : <p class="muted">No delivery was refused in the last 24 hours.</p>;
  }
  const own = eventId === undefined ? [] : examples.filter((example) => example.eventId === eventId);
  const shown = own.length > 0 ? own : examples;
  return (
    <Panel title={own.length > 0 ? "Deliveries with this id were refused" : "Refused in the last 24 hours"}>
      <details open={eventId !== undefined}>
        <summary>{byCode.map(({ code, count }) => `${formatCount(count)} ${visible(code)}`).join(", ")}</summary>
        <ul class="rows">
          {shown.map(({ at, code, address, eventId: id }, index) => (
            <li key={index}>
              <Moment at={at} full /> <strong>{visible(code)}</strong>
              {address !== null && ` from ${visible(address)}`}
              {id !== null && `, event ${visible(id)}`}
            </li>
          ))}
        </ul>
        <p class="muted">
          docs/errors.md, Answer codes, says what each needs. `signalbox doctor --url` finds out what is wrong with a
          receiver.
        </p>
      </details>
    </Panel>
  );
}
