import { z } from "zod";
import type { SignalEvent } from "../../../../kit/senders/signals/envelope.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../../kit/senders/signature/verify.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { ReportEvent } from "../../instance/events.js";
import type { SendingSummary } from "../../instance/events.js";
import { shownEndpoint } from "../registrations/registration-row.js";
import type { DueDelivery } from "./dispatch-deliveries.js";
import type { DeliveryState } from "./outbox.js";
import type { Settlement } from "./settle-delivery.js";

/**
 * Reports the result of an attempt.
 *
 * @param aheadMs how far the time of signatures is ahead of the machine's clock
 */
export function createSettlementReporter(report: ReportEvent, aheadMs: () => number) {
  /** Registrations whose `registration_time_refused` was reported. */
  const timeRefused = new Set<string>();

  return (delivery: DueDelivery, settlement: Settlement): void => {
    const { registration_id, delivery_id, event_id, event_type, redelivery_of } = delivery;
    const {
      outcome,
      attempt,
      url,
      failureCount,
      isDelivered,
      isVerified,
      isPaused,
      nextAttemptAt,
    } = settlement;
    const registration = { registration_id, endpoint: shownEndpoint(url) };
    const result = "failure" in outcome ? outcome.failure : outcome.status;
    const facts = {
      ...registration,
      delivery_id,
      event_id,
      event_type,
      redelivery_of,
      ...signalIn(delivery),
      at: new Date(settlement.at).toISOString(),
      attempt,
      result,
      duration_ms: Math.round(settlement.durationMs),
      ...("failure" in outcome ? {} : answerIn(outcome.body)),
    };
    if (isVerified) report({ event: "verified", ...facts });
    else if (isDelivered) report({ event: attempt === 1 ? "sent" : "retried", ...facts });
    else {
      const next_attempt_at = nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString();
      report({ event: "refused", ...facts, next_attempt_at });
    }

    const aheadSeconds = Math.round(aheadMs() / 1000);
    const trouble = {
      ...registration,
      failure_count: failureCount,
      last: result,
      ahead_seconds: aheadSeconds,
    };
    // A receiver that uses the machine's clock refuses a timestamp that is this far from its time,
    // with a 4xx.
    const mayRefuseTime = Math.abs(aheadSeconds) > DEFAULT_TOLERANCE_SECONDS;
    const isRefused = typeof result === "number" && result >= 400 && result <= 499;
    if (isRefused && mayRefuseTime && !timeRefused.has(registration_id)) {
      timeRefused.add(registration_id);
      report({ event: "registration_time_refused", ...trouble });
    }
    if (isPaused) report({ event: "registration_paused", ...trouble });
  };
}

function signalIn({ event_type, body }: DueDelivery): { signal_type: string; slug: string } | null {
  if (event_type !== "signal.published") return null;
  const { data } = JSON.parse(body.toString()) as SignalEvent;
  return { signal_type: data.signal_type, slug: data.product.slug };
}

const answerSchema = z.object({
  duplicate: z.literal(true).optional().catch(undefined),
  // Longer and other texts are not repeated, because they could hold anything.
  error: z
    .object({ code: z.string().regex(/^[\w.-]{1,60}$/) })
    .optional()
    .catch(undefined),
});

/** Reads what a receiver said in an answer, if it answers as the receiver of this package does. */
function answerIn(body: Buffer): { duplicate?: true; answer_code?: string } {
  try {
    const { duplicate, error } = answerSchema.parse(JSON.parse(body.toString()));
    return { ...(duplicate && { duplicate }), ...(error && { answer_code: error.code }) };
  } catch {
    return {};
  }
}

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
