import { z } from "zod";
import { dateTimeSchema } from "../../api/date-time.js";
import type { EmulatorCore } from "../instance/core.js";
import { parameterError } from "../operations/parse-input.js";
import { ServiceError } from "../operations/service-error.js";
import { addMonths } from "../time/month.js";
import type { OpenSendingSpan, SendingSummary } from "../webhooks/deliveries/sending-span.js";
import { controlOperation } from "./control-operation.js";

const amount = z.int().min(0);
const spanSchema = {
  months: amount.default(0),
  days: amount.default(0),
  hours: amount.default(0),
  minutes: amount.default(0),
  seconds: amount.default(0),
  ms: amount.default(0),
};
/** The longest single move: a slip should not generate years of data. */
const MOST_MS = 10 * 366 * 24 * 3_600_000;

const advanceSchema = z.strictObject({
  /** The moment to move to, not in the past. */
  to: dateTimeSchema.optional(),
  ...spanSchema,
});

/** The service's time as the control API gives it. */
export interface ServiceTime {
  /** A date-time. */
  now: string;
}

/** @param nowMs milliseconds since 1970 */
export const serviceTime = (nowMs: number): ServiceTime => ({ now: new Date(nowMs).toISOString() });

/** The new time, and what was sent on the way. */
export interface ClockMove extends ServiceTime, SendingSummary {}

/**
 * The service's time.
 *
 * @param onMoved called each time the control API moved the clock
 */
export function clockControl(
  { clock, scheduler }: Pick<EmulatorCore, "clock" | "scheduler">,
  openSendingSpan: OpenSendingSpan,
  onMoved: (move: ClockMove) => void,
) {
  const timeNow = (): ServiceTime => serviceTime(clock.now());
  return {
    now: controlOperation({
      method: "GET",
      path: "/clock",
      about: "Gives the service's time.",
      input: z.strictObject({}),
      run: timeNow,
    }),
    advance: controlOperation({
      method: "POST",
      path: "/clock/advance",
      about:
        "Moves the clock forward, to a moment or by a span. All work that is due on the way is done first; the answer says what was sent.",
      input: advanceSchema,
      async run(input): Promise<ClockMove> {
        let target = 0;
        let closeSpan!: () => SendingSummary;
        await scheduler.advanceTo((now) => {
          target = targetOf(input, now);
          closeSpan = openSendingSpan();
          return target;
        });
        if (clock.now() < target) {
          throw new ServiceError("DATA_UNAVAILABLE", "The emulator was reset or closed before the clock got there.");
        }
        const move = { ...timeNow(), ...closeSpan() };
        onMoved(move);
        return move;
      },
    }),
    settle: controlOperation({
      method: "POST",
      path: "/clock/settle",
      about: "Answers when all work that is due is done, such as deliveries in flight.",
      input: z.strictObject({}),
      async run() {
        await scheduler.idle();
        return timeNow();
      },
    }),
  };
}

/**
 * The moment to move to: `to`, or now plus a span. Calendar months are added first.
 *
 * @throws ServiceError INVALID_PARAMETERS
 */
function targetOf({ to, ...span }: z.output<typeof advanceSchema>, now: number): number {
  assertOneWay(to, span);
  const { months, days, hours, minutes, seconds, ms } = span;
  const from = to === undefined ? now : Date.parse(to);
  const target = addMonths(from, months) + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + ms;
  if (target < now) throw new ServiceError("INVALID_PARAMETERS", "to: is in the past; the clock only goes forward.");
  // Also true for NaN.
  if (!(target - now <= MOST_MS)) {
    throw new ServiceError("INVALID_PARAMETERS", "The clock goes at most ten years forward at once.");
  }
  return target;
}

/** Refuses a moment together with a span: a user who gives both does not mean their sum. @throws ServiceError INVALID_PARAMETERS */
function assertOneWay(to: string | undefined, span: Readonly<Record<string, number>>): void {
  const beside = Object.keys(span).filter((name) => span[name] !== 0);
  if (to === undefined || beside.length === 0) return;
  const problem = "is given beside to: the clock goes to a moment or by a span, not both";
  throw parameterError(
    "INVALID_PARAMETERS",
    beside.map((parameter) => ({ parameter, problem })),
  );
}
