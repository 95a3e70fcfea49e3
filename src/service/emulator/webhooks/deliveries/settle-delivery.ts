import { z } from "zod";
import { secondsIn, type Assumptions } from "../../instance/assumption-options.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { SentDelivery, SentRequest } from "../faults/webhook-faults.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { RequestOutcome } from "../transport/send-request.js";
import type { DeliveryRow, DeliveryState } from "./outbox.js";

/** What became of an attempt. */
export type Settlement = ReturnType<ReturnType<typeof createSettleDelivery>>;

/** Stores the result of an attempt, and changes its delivery and its registration. */
export function createSettleDelivery({ database, clock, assumptions }: EmulatorCore) {
  const nextAttemptAt = createNextAttemptAt(assumptions);
  const insertAttempt = database.prepare<[Record<string, unknown>]>(
    `INSERT INTO attempt (delivery_id, started_at, sent_at, duration_ms, request_headers, status, failure, answer_headers,
       answer_body, faults)
     VALUES (@delivery_id, @started_at, @sent_at, @duration_ms, @request_headers, @status, @failure, @answer_headers,
       @answer_body, @faults)`,
  );
  const setState = database.prepare<
    [{ id: number; state: DeliveryState; attempt: number; dueAt: number }]
  >(
    "UPDATE delivery SET state = @state, attempts = @attempt, due_at = @dueAt WHERE delivery_id = @id",
  );
  const findRegistration = database.prepare<[string], RegistrationRow>(
    "SELECT * FROM registration WHERE registration_id = ?",
  );
  const activate = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET status = 'active', updated_at = @now WHERE registration_id = @id AND status = 'pending'",
  );
  // A verification can be sent more than once. After one of these deliveries was answered, the
  // waiting ones are cancelled.
  const cancelVerifications = database.prepare<[string]>(
    `UPDATE delivery SET state = 'cancelled'
     WHERE registration_id = ? AND state = 'waiting' AND event_type = 'webhook.verification'`,
  );
  const resetFailures = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET failure_count = 0, updated_at = @now WHERE registration_id = @id AND failure_count > 0",
  );
  const countFailure = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET failure_count = failure_count + 1, updated_at = @now WHERE registration_id = @id",
  );
  const pause = database.prepare<[{ id: string; now: number; most: number }]>(
    `UPDATE registration SET status = 'paused', updated_at = @now
     WHERE registration_id = @id AND status = 'active' AND failure_count >= @most`,
  );

  return database.transaction((delivery: DeliveryRow, { requests, outcome }: SentDelivery) => {
    const { delivery_id, registration_id: id } = delivery;
    const now = clock.now();
    const attempt = delivery.attempts + 1;
    for (const request of requests) insertAttempt.run({ delivery_id, ...attemptColumns(request) });
    const store = (state: DeliveryState, dueAt: number = delivery.due_at): void =>
      void setState.run({ id: delivery_id, state, attempt, dueAt });

    // The row always exists, because registrations are never removed from the table.
    const { challenge, status, failure_count, url } = findRegistration.get(id) as RegistrationRow;
    const isVerification = delivery.event_type === "webhook.verification";
    const attempted = { outcome, at: now, durationMs: requests[0]?.durationMs ?? 0, attempt, url };
    const settled = {
      ...attempted,
      isDelivered: false,
      isVerified: false,
      isPaused: false,
      nextAttemptAt: null,
    };
    if (isSuccess(outcome) && (!isVerification || challengeIn(outcome.body) === challenge)) {
      store("delivered");
      const isVerified = isVerification && activate.run({ id, now }).changes > 0;
      if (isVerification) cancelVerifications.run(id);
      resetFailures.run({ id, now });
      return { ...settled, isDelivered: true, isVerified, failureCount: 0 };
    }
    if (status === "deleted") {
      store("cancelled");
      return { ...settled, failureCount: failure_count };
    }
    countFailure.run({ id, now });
    const isPaused = pause.run({ id, now, most: assumptions.pauseAfterFailures }).changes > 0;
    const dueAt = nextAttemptAt(delivery, { attempt, outcome, now });
    if (dueAt === null) store("failed");
    else store("waiting", dueAt);
    return { ...settled, isPaused, nextAttemptAt: dueAt, failureCount: failure_count + 1 };
  });
}

function isSuccess(
  outcome: RequestOutcome,
): outcome is Extract<RequestOutcome, { status: number }> {
  return "status" in outcome && outcome.status >= 200 && outcome.status <= 299;
}

const challengeAnswer = z.object({ challenge: z.string() });

/**
 * Returns the challenge in an answer (service document, webhook.verification); null without one.
 */
function challengeIn(body: Buffer): string | null {
  try {
    return challengeAnswer.parse(JSON.parse(body.toString("utf8"))).challenge;
  } catch {
    return null;
  }
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

/**
 * Decides when a failed delivery is sent again. The assumption `retrySeconds` lists the waits;
 * after the last one there is no other attempt. A busy receiver can ask for a longer wait. An
 * attempt later than `expires_at` (24 hours) is not made.
 *
 * @returns milliseconds since 1970; null when the delivery is not sent again
 */
type NextAttemptAt = (
  delivery: Pick<DeliveryRow, "expires_at">,
  failed: { attempt: number; outcome: RequestOutcome; now: number },
) => number | null;

/** A receiver knows best when it is ready again, but it cannot delay a retry for days. */
const LONGEST_RETRY_AFTER_SECONDS = 3600;

function createNextAttemptAt({ retrySeconds }: Pick<Assumptions, "retrySeconds">): NextAttemptAt {
  const waits = secondsIn(retrySeconds);
  return ({ expires_at }, { attempt, outcome, now }) => {
    const planned = waits[attempt - 1];
    if (planned === undefined) return null;
    const asked = Math.min(askedRetryAfter(outcome), LONGEST_RETRY_AFTER_SECONDS);
    // Times are stored as whole milliseconds. The assumption's seconds can have decimals.
    const dueAt = now + Math.round(Math.max(planned, asked) * 1000);
    return dueAt > expires_at ? null : dueAt;
  };
}

/**
 * Returns the seconds that a busy receiver (429, 503) asks for in Retry-After; 0 without that
 * header.
 */
function askedRetryAfter(outcome: RequestOutcome): number {
  if ("failure" in outcome || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  const { "retry-after": text = "", date = "" } = outcome.headers;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Retry-After is a date. It is compared with the answer's Date, because the receiver's clock may
  // differ from the emulator's.
  const seconds = (Date.parse(text) - Date.parse(date)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
