import type { SendingSummary } from "../../control/clock-move.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { DeliveryState } from "./delivery-row.js";

/** Starts a span. Returns the function that ends the span and sums it up. */
export type OpenSendingSpan = () => () => SendingSummary;

export function createOpenSendingSpan({
  database,
}: Pick<EmulatorCore, "database">): OpenSendingSpan {
  const lastSignal = database
    .prepare<[], number | null>("SELECT max(signal_id) FROM signal")
    .pluck();
  const signalsAfter = database
    .prepare<[number], number>("SELECT count(*) FROM signal WHERE signal_id > ?")
    .pluck();
  const byState = database.prepare<[], { state: DeliveryState; deliveries: number }>(
    "SELECT state, deliveries FROM delivery_count",
  );
  const paused = database
    .prepare<[], string>(
      "SELECT registration_id FROM registration WHERE status = 'paused' ORDER BY created_at",
    )
    .pluck();

  const totals = () => ({
    signal: lastSignal.get() ?? 0,
    states: new Map(byState.all().map(({ state, deliveries }) => [state, deliveries])),
    paused: paused.all(),
  });

  return () => {
    const before = totals();
    return () => {
      const after = totals();
      const gained = (state: DeliveryState): number =>
        (after.states.get(state) ?? 0) - (before.states.get(state) ?? 0);
      return {
        signals_published: signalsAfter.get(before.signal) ?? 0,
        deliveries: {
          created: count(after.states) - count(before.states),
          delivered: gained("delivered"),
          failed: gained("failed"),
          expired: gained("expired"),
          waiting: (after.states.get("waiting") ?? 0) + (after.states.get("sending") ?? 0),
        },
        registrations_paused: after.paused.filter((id) => !before.paused.includes(id)),
      };
    };
  };
}

const count = (states: Map<DeliveryState, number>): number =>
  [...states.values()].reduce((sum, n) => sum + n, 0);
