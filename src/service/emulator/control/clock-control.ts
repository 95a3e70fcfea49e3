import { z } from "zod";
import { dateTimeSchema } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import type { EmulatorCore } from "../instance/core.js";
import type { ServiceTime, SendingSummary, ClockMove } from "../instance/events.js";
import { ServiceError } from "../operations/service-error.js";
import { addMonths, dateTime } from "../time/emulator-clock.js";
import type { DeliveryState } from "../webhooks/deliveries/outbox.js";
import { controlOperation } from "./control-operation.js";

const amount = z.int().min(0);
/** The longest single advance: a typing error should not generate decades of data. */
const MOST_MS = 10 * 366 * 24 * 3_600_000;

const advanceSchema = z
  .strictObject({
    /** The new time, not in the past. It cannot be combined with a span. */
    to: dateTimeSchema.optional(),
    months: amount.default(0),
    days: amount.default(0),
    hours: amount.default(0),
    minutes: amount.default(0),
    seconds: amount.default(0),
    ms: amount.default(0),
  })
  .refine(
    ({ to, ...span }) => to === undefined || Object.values(span).every((value) => value === 0),
    "to cannot be combined with a span such as days",
  );

/** @param nowMs milliseconds since 1970 */
export const serviceTime = (nowMs: number): ServiceTime => ({ now: dateTime(nowMs) });

/** @param onMoved called each time the control API has advanced the clock */
export function clockControl(
  { clock, scheduler, database }: EmulatorCore,
  onMoved: (move: ClockMove) => void,
) {
  const timeNow = (): ServiceTime => serviceTime(clock.now());
  return {
    now: controlOperation("GET /clock", "Returns the time of the emulator's clock.", {}, timeNow),
    advance: controlOperation(
      "POST /clock/advance",
      "Advances the clock to a moment (to) or by a span (days, hours and so on), and does all work that is due until then. The answer sums up what was sent.",
      advanceSchema,
      async (input): Promise<ClockMove> => {
        let target = 0;
        let closeSpan!: () => SendingSummary;
        await scheduler.advanceTo((now) => {
          target = targetOf(input, now);
          closeSpan = openSendingSpan(database);
          return target;
        });
        if (clock.now() < target) {
          throw new ServiceError(
            "DATA_UNAVAILABLE",
            "The emulator was reset or closed during the advance.",
          );
        }
        const move = { ...timeNow(), ...closeSpan() };
        onMoved(move);
        return move;
      },
    ),
    settle: controlOperation(
      "POST /clock/settle",
      "Waits until all due work is done, such as deliveries in flight.",
      {},
      async () => {
        await scheduler.idle();
        return timeNow();
      },
    ),
  };
}

/**
 * Returns `to`, or now plus the span. Calendar months are added first. @throws ServiceError
 * INVALID_PARAMETERS
 */
function targetOf({ to, ...span }: z.output<typeof advanceSchema>, now: number): number {
  const { months, days, hours, minutes, seconds, ms } = span;
  const from = to === undefined ? now : Date.parse(to);
  const target =
    addMonths(from, months) + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + ms;
  if (target < now)
    throw new ServiceError("INVALID_PARAMETERS", "to: is in the past; the clock cannot go back.");
  // A target that is NaN is refused too, because it fails this comparison.
  if (!(target - now <= MOST_MS)) {
    throw new ServiceError(
      "INVALID_PARAMETERS",
      "One call can advance the clock by at most ten years.",
    );
  }
  return target;
}

/** Starts a span. @returns the function that ends the span and sums it up */
export function openSendingSpan(database: Database): () => SendingSummary {
  const totals = () => ({
    signal: database.value<number | null>("SELECT max(signal_id) FROM signal") ?? 0,
    states: new Map(
      database
        .rows<{ state: DeliveryState; deliveries: number }>("SELECT * FROM delivery_count")
        .map(({ state, deliveries }) => [state, deliveries]),
    ),
    paused: database
      .rows<{ id: string }>(
        "SELECT registration_id AS id FROM registration WHERE status = 'paused' ORDER BY created_at",
      )
      .map(({ id }) => id),
  });
  const before = totals();
  return () => {
    const after = totals();
    const gained = (state: DeliveryState): number =>
      (after.states.get(state) ?? 0) - (before.states.get(state) ?? 0);
    const sql = "SELECT count(*) FROM signal WHERE signal_id > ?";
    return {
      signals_published: database.value<number>(sql, before.signal) ?? 0,
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
}

const count = (states: ReadonlyMap<DeliveryState, number>): number =>
  [...states.values()].reduce((sum, each) => sum + each, 0);
