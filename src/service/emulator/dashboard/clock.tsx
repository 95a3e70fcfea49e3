import { useEffect, useState } from "preact/hooks";
import { formatCount, formatUtc } from "../../../base/text/format.js";
import { ActionButton, ActionForm } from "../../../page/parts/actions.js";
import { usePage, View } from "../../../page/parts/page-frame.js";
import { Facts, Panel } from "../../../page/parts/panel.js";
import { advanceToNextSignals } from "../control/advance-to-next-signals.js";
import type { ClockMove } from "../control/clock-move.js";
import { control, useDesk } from "./control.js";

const SPANS = [
  ["A minute", { minutes: 1 }],
  ["An hour", { hours: 1 }],
  ["A day", { days: 1 }],
] as const;

export function Clock() {
  const { reload } = useDesk();
  const { now } = usePage();
  const [last, setLast] = useState<ClockMove | null>(null);
  // A reader who leaves this view stops a long advance.
  const [left] = useState(() => new AbortController());
  useEffect(() => () => left.abort(), [left]);

  async function move(moved: Promise<ClockMove>): Promise<string> {
    const made = await moved;
    setLast(made);
    reload();
    return `It is ${formatUtc(Date.parse(made.now))}.`;
  }

  return (
    <View title="Clock">
      <Panel title={formatUtc(now)}>
        <p class="hint">
          Advance the clock: retries, new months and investigations that are due on the way are done
          before it answers. It never goes back.
        </p>
        <div class="toolbar" role="group" aria-label="Advance by">
          {SPANS.map(([label, span]) => (
            <ActionButton key={label} label={label} run={() => move(control.advance(span))} />
          ))}
          <ActionButton
            label="To the next month's signals"
            tone="primary"
            run={() => move(advanceToNextSignals(control, left.signal))}
          />
        </div>
        <ActionForm
          fields={[
            { name: "to", label: "To a moment, in UTC", type: "datetime-local", isRequired: true },
          ]}
          action="Advance"
          run={({ to = "" }) => move(control.advance({ to: new Date(`${to}Z`).toISOString() }))}
        />
      </Panel>
      {last !== null && (
        <Panel title="What was sent meanwhile">
          <Facts
            of={{
              Signals: formatCount(last.signals_published),
              Deliveries: formatCount(last.deliveries.created),
              Delivered: formatCount(last.deliveries.delivered),
              Failed: formatCount(last.deliveries.failed),
              Expired: formatCount(last.deliveries.expired),
              Waiting: formatCount(last.deliveries.waiting),
              "Webhooks paused": formatCount(last.registrations_paused.length),
            }}
          />
        </Panel>
      )}
    </View>
  );
}
