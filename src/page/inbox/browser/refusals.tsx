import type { Refusals } from "../../../kit/inbox/inbox-facts.js";
import { Moment } from "../../parts/panel.js";
import { formatCount } from "../../../base/text/format.js";
import { visible } from "../../../base/text/visible-text.js";

interface RefusedPanelProps {
  refusals: Refusals;
  /** The event that was looked for; its refusals are shown alone, if there are any. */
  eventId?: string | undefined;
}

/** The deliveries that were refused in the last 24 hours. Nothing in them is proved. */
export function RefusedPanel({ refusals: { byCode, examples }, eventId }: RefusedPanelProps) {
  if (byCode.length === 0) {
    return eventId === undefined ? null : (
      <p class="muted">No delivery was refused in the last 24 hours.</p>
    );
  }
  const own =
    eventId === undefined ? [] : examples.filter((example) => example.eventId === eventId);
  const shown = own.length > 0 ? own : examples;
  const counts = byCode
    .map(({ code, count }) => `${formatCount(count)} ${visible(code)}`)
    .join(", ");
  return (
    <details class="panel folded" open={eventId !== undefined}>
      <summary>
        {own.length > 0 ? (
          <strong>Deliveries with this id were refused</strong>
        ) : (
          <>
            <strong>Refused in the last 24 hours:</strong> {counts}
          </>
        )}
      </summary>
      <ul class="rows" aria-label="Refused deliveries">
        {shown.map(({ at, code, address, eventId: id }, index) => (
          <li key={index}>
            <Moment at={at} full /> <strong>{visible(code)}</strong>
            {address !== null && ` from ${visible(address)}`}
            {id !== null && `, event ${visible(id)}`}
          </li>
        ))}
      </ul>
      <p class="muted">
        docs/errors.md, Answer codes, says what each needs. `signalbox doctor --url` finds out what
        is wrong with a receiver.
      </p>
    </details>
  );
}
