import type { JSX } from "preact";
import { Badge, type Tone } from "../../parts/badge.js";
import { formatCount } from "../../parts/format.js";
import { Moment } from "../../parts/moment.js";
import { href } from "../../parts/use-route.js";
import { visible } from "../../parts/visible-text.js";
import type { Delivery } from "../control.js";
import { List } from "../panel.js";
import { answerText } from "./attempts.js";

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  waiting: "busy",
  sending: "busy",
  delivered: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "idle",
};

/** The state of a delivery, and when it is sent again. */
export function DeliveryState({ delivery, now }: { delivery: Delivery; now: number }): JSX.Element {
  const { state, next_attempt_at, attempts } = delivery;
  // A delivery that failed once waits for its next attempt.
  const tone = state === "waiting" && attempts.length > 0 ? "warn" : TONES[state];
  return (
    <span>
      <Badge tone={tone}>{state}</Badge>{" "}
      {next_attempt_at !== null && (
        <span class="muted">
          next attempt <Moment at={Date.parse(next_attempt_at)} now={now} />
        </span>
      )}
    </span>
  );
}

export function DeliveryTable({ deliveries, now }: { deliveries: readonly Delivery[]; now: number }): JSX.Element {
  return (
    <List
      label="Deliveries"
      empty="There is no delivery here."
      rows={deliveries}
      keyOf={({ delivery_id }) => delivery_id}
      columns={[
        {
          label: "Delivery",
          cell: ({ delivery_id }) => <a href={href(["deliveries", String(delivery_id)])}>{`#${delivery_id}`}</a>,
        },
        {
          label: "Event",
          grows: true,
          cell: ({ event_type, event_id }) => (
            <span>
              {event_type}{" "}
              <a class="mono" href={href(["events", event_id])}>
                {visible(event_id)}
              </a>
            </span>
          ),
        },
        { label: "State", cell: (delivery) => <DeliveryState delivery={delivery} now={now} /> },
        { label: "Attempts", align: "end", cell: ({ attempts }) => formatCount(attempts.length) },
        { label: "Last answer", cell: ({ attempts }) => answerText(attempts.at(-1)) },
        { label: "Made", cell: ({ created_at }) => <Moment at={Date.parse(created_at)} now={now} /> },
      ]}
    />
  );
}
