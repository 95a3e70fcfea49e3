import type { ClockMove } from "../instance/events.js";

const STEP_HOURS = 6;

/**
 * More than a month, because the service publishes the signals of a month some days after the
 * month's end.
 */
const MOST_STEPS = (40 * 24) / STEP_HOURS;

/**
 * Advances the clock until the signals of the next month have been published, which takes some
 * hours of a day. It stops soon after the last signal, because the service does not send a signal
 * again that is more than 24 hours old.
 *
 * @returns the sums of all steps
 */
export async function advanceToNextSignals(
  control: { advance(span: { hours: number }): Promise<ClockMove> },
  signal: AbortSignal,
): Promise<ClockMove> {
  let sum: ClockMove | null = null;
  for (let step = 0; ; step++) {
    const move = await control.advance({ hours: STEP_HOURS });
    const isOver = move.signals_published === 0 && sum !== null && sum.signals_published > 0;
    sum = sum === null ? move : add(sum, move);
    if (isOver || step === MOST_STEPS || signal.aborted) return sum;
  }
}

function add(
  sum: ClockMove,
  { now, signals_published, deliveries, registrations_paused }: ClockMove,
): ClockMove {
  return {
    now,
    signals_published: sum.signals_published + signals_published,
    deliveries: {
      created: sum.deliveries.created + deliveries.created,
      delivered: sum.deliveries.delivered + deliveries.delivered,
      failed: sum.deliveries.failed + deliveries.failed,
      expired: sum.deliveries.expired + deliveries.expired,
      waiting: deliveries.waiting,
    },
    registrations_paused: [...sum.registrations_paused, ...registrations_paused],
  };
}
