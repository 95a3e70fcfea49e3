import { z } from "zod";
import { safely } from "../../../../base/errors.js";
import { DEFAULT_TOLERANCE_SECONDS } from "../../../../kit/senders/signature/verify.js";
import { secondsIn } from "../../instance/assumption-options.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { ReportEvent } from "../../instance/events.js";
import { dateTime } from "../../time/emulator-clock.js";
import type { SentRequest } from "../faults/webhook-faults.js";
import {
  cancelWaiting,
  changeRegistration,
  findRegistration,
  shownEndpoint,
  type RegistrationRow,
} from "../registrations/registration-row.js";
import type { RequestOutcome } from "../transport/send-request.js";
import { signalIn, type DeliveryState, type EventDelivery } from "./outbox.js";

/** One attempt of a delivery. */
interface SentDelivery {
  /** Two requests with the fault `duplicate`, otherwise one. */
  requests: readonly SentRequest[];
  /** The outcome of the attempt. The fault `status` changes it. */
  outcome: RequestOutcome;
}

/**
 * Stores the result of an attempt, changes its delivery and its registration, and reports it.
 *
 * @param aheadMs how far the time of signatures is ahead of the machine's clock
 */
export function createSettleDelivery(
  core: EmulatorCore,
  report: ReportEvent,
  aheadMs: () => number,
) {
  const { database, clock, assumptions } = core;
  const waits = secondsIn(assumptions.retrySeconds);
  /** Registrations whose `registration_time_refused` was reported. */
  const timeRefused = new Set<string>();

  const store = database.transaction(
    (delivery: EventDelivery, { requests, outcome }: SentDelivery) => {
      const { delivery_id, registration_id: id } = delivery;
      const now = clock.now();
      const attempt = delivery.attempts + 1;
      for (const request of requests)
        database.put("attempt", { delivery_id, ...attemptColumns(request) });
      const setState = (state: DeliveryState, dueAt: number = delivery.due_at): void => {
        const sql = "UPDATE delivery SET state = ?, attempts = ?, due_at = ? WHERE delivery_id = ?";
        database.run(sql, state, attempt, dueAt, delivery_id);
      };

      // The row always exists, because registrations are never removed from the table.
      const registration = findRegistration(database, id) as RegistrationRow;
      const { challenge, status, failure_count } = registration;
      const isVerification = delivery.event_type === "webhook.verification";
      const settled = { at: now, attempt, url: registration.url, failureCount: failure_count };
      const failed = { isDelivered: false, isVerified: false, isPaused: false, retryAt: null };
      if (isSuccess(outcome) && (!isVerification || challengeIn(outcome.body) === challenge)) {
        setState("delivered");
        const isVerified = isVerification && status === "pending";
        // A verification can be sent more than once.
        if (isVerified) cancelWaiting(database, id, true);
        const activated = isVerified ? ({ status: "active" } as const) : {};
        if (isVerified || failure_count > 0)
          changeRegistration(core, registration, { ...activated, failure_count: 0 });
        return { ...settled, ...failed, isDelivered: true, isVerified, failureCount: 0 };
      }
      if (status === "deleted") {
        setState("cancelled");
        return { ...settled, ...failed };
      }
      const failureCount = failure_count + 1;
      const isPaused = status === "active" && failureCount >= assumptions.pauseAfterFailures;
      const paused = isPaused ? ({ status: "paused" } as const) : {};
      changeRegistration(core, registration, { failure_count: failureCount, ...paused });
      const retryAt = retryTime(waits[delivery.attempts], outcome, now, delivery.expires_at);
      if (retryAt === null) setState("failed");
      else setState("waiting", retryAt);
      return { ...settled, ...failed, failureCount, isPaused, retryAt };
    },
  );

  return (delivery: EventDelivery, sent: SentDelivery): void => {
    const settled = store(delivery, sent);
    const { outcome, requests } = sent;
    const { registration_id, delivery_id, event_id, event_type, redelivery_of } = delivery;
    const { attempt, isVerified, isDelivered, isPaused, retryAt } = settled;
    const registration = { registration_id, endpoint: shownEndpoint(settled.url) };
    const result = "failure" in outcome ? outcome.failure : outcome.status;
    const signal = signalIn(delivery);
    const facts = {
      ...registration,
      delivery_id,
      event_id,
      event_type,
      redelivery_of,
      ...(signal && { signal_type: signal.signal_type, slug: signal.product.slug }),
      at: dateTime(settled.at),
      attempt,
      result,
      duration_ms: Math.round(requests[0]?.durationMs ?? 0),
      ...("failure" in outcome ? {} : answerIn(outcome.body)),
    };
    if (isVerified) report({ event: "verified", ...facts });
    else if (isDelivered) report({ event: attempt === 1 ? "sent" : "retried", ...facts });
    else {
      const next_attempt_at = retryAt === null ? null : dateTime(retryAt);
      report({ event: "refused", ...facts, next_attempt_at });
    }

    const aheadSeconds = Math.round(aheadMs() / 1000);
    const trouble = {
      ...registration,
      failure_count: settled.failureCount,
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

function isSuccess(
  outcome: RequestOutcome,
): outcome is Extract<RequestOutcome, { status: number }> {
  return "status" in outcome && outcome.status >= 200 && outcome.status <= 299;
}

/** What a receiver can say in an answer. */
const answerSchema = z.object({
  challenge: z.string().optional().catch(undefined),
  duplicate: z.literal(true).optional().catch(undefined),
  // Longer and other texts are not repeated, because they could hold anything.
  error: z
    .object({ code: z.string().regex(/^[\w.-]{1,60}$/) })
    .optional()
    .catch(undefined),
});

function answered(body: Buffer): z.output<typeof answerSchema> {
  return safely(() => answerSchema.parse(JSON.parse(body.toString("utf8"))), {});
}

/**
 * Returns the challenge in an answer (service document, webhook.verification); undefined without
 * one.
 */
const challengeIn = (body: Buffer): string | undefined => answered(body).challenge;

/** Reads what a receiver said in an answer, if it answers as the receiver of this package does. */
function answerIn(body: Buffer): { duplicate?: true; answer_code?: string } {
  const { duplicate, error } = answered(body);
  return { ...(duplicate && { duplicate }), ...(error && { answer_code: error.code }) };
}

function attemptColumns(sent: SentRequest): Record<string, unknown> {
  const { request, outcome, startedAt, sentAt, durationMs, faults } = sent;
  const answer = "failure" in outcome ? null : outcome;
  return {
    started_at: startedAt,
    sent_at: sentAt,
    duration_ms: durationMs,
    request_headers: JSON.stringify(request.headers),
    faults: JSON.stringify(faults),
    status: answer?.status ?? null,
    failure: "failure" in outcome ? outcome.failure : null,
    answer_headers: answer === null ? null : JSON.stringify(answer.headers),
    answer_body: answer?.body ?? null,
  };
}

/** A receiver knows best when it is ready again, but it cannot delay a retry for days. */
const LONGEST_RETRY_AFTER_SECONDS = 3600;

/**
 * Decides when a failed delivery is sent again. A busy receiver can ask for a longer wait than the
 * planned one. An attempt later than `expiresAt` (24 hours) is not made.
 *
 * @param planned the seconds to wait by the assumption `retrySeconds`; undefined after its last one
 * @returns milliseconds since 1970; null when the delivery is not sent again
 */
function retryTime(
  planned: number | undefined,
  outcome: RequestOutcome,
  now: number,
  expiresAt: number,
): number | null {
  if (planned === undefined) return null;
  const asked = Math.min(askedRetryAfter(outcome), LONGEST_RETRY_AFTER_SECONDS);
  // Times are stored as whole milliseconds. The assumption's seconds can have decimals.
  const dueAt = now + Math.round(Math.max(planned, asked) * 1000);
  return dueAt > expiresAt ? null : dueAt;
}

/**
 * Returns the seconds that a busy receiver (429, 503) asks for in Retry-After; 0 without that
 * header.
 */
function askedRetryAfter(outcome: RequestOutcome): number {
  if ("failure" in outcome || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  const { "retry-after": text = "" } = outcome.headers;
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
