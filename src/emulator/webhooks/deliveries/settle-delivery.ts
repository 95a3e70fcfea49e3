import { z } from "zod";
import { itemsOf } from "../../instance/allowed-values.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { CarriedRequest, RequestFacts } from "../faults/create-faulty-sender.js";
import type { DeliveryRow, DeliveryState } from "./delivery-row.js";
import { retryAfterSeconds } from "./asked-retry-after.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { RequestOutcome } from "../transport/send-request.js";

/** What an attempt of a delivery came to. */
export interface Settlement {
  outcome: RequestOutcome;
  /** 1 for the first attempt. */
  attempt: number;
  /** Whether the answer was a 2xx, and had the challenge if one was sent. */
  isTaken: boolean;
  /** Whether this made the registration active. */
  isVerified: boolean;
  /** Whether this paused the registration. */
  isPaused: boolean;
  /** In milliseconds since 1970; null when there is no other attempt. */
  nextAttemptAt: number | null;
  /** Of the registration, after this attempt. */
  failureCount: number;
  url: string;
}

/** Stores what an attempt came to, with what follows for its delivery and its registration. */
export type SettleDelivery = (delivery: DeliveryRow, carried: CarriedRequest) => Settlement;

export function createSettleDelivery({ database, clock, assumptions }: EmulatorCore): SettleDelivery {
  const retrySeconds = itemsOf(assumptions.retrySeconds).map(Number);
  const insertAttempt = database.prepare<[Record<string, unknown>]>(
    `INSERT INTO attempt (delivery_id, started_at, duration_ms, request_headers, status, failure, answer_headers,
       answer_body, faults)
     VALUES (@delivery_id, @started_at, @duration_ms, @request_headers, @status, @failure, @answer_headers, @answer_body,
       @faults)`,
  );
  const setState = database.prepare<[{ id: number; state: DeliveryState; attempts: number; dueAt: number }]>(
    "UPDATE delivery SET state = @state, attempts = @attempts, due_at = @dueAt WHERE delivery_id = @id",
  );
  const findRegistration = database.prepare<[string], RegistrationRow>(
    "SELECT * FROM registration WHERE registration_id = ?",
  );
  const activate = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET status = 'active', updated_at = @now WHERE registration_id = @id AND status = 'pending'",
  );
  // A second verification, of a registration that was verified again, has nothing left to find out.
  const cancelVerifications = database.prepare<[string]>(
    `UPDATE delivery SET state = 'cancelled'
     WHERE registration_id = ? AND state = 'waiting' AND event_type = 'webhook.verification'`,
  );
  const forgive = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET failure_count = 0, updated_at = @now WHERE registration_id = @id AND failure_count > 0",
  );
  const countFailure = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET failure_count = failure_count + 1, updated_at = @now WHERE registration_id = @id",
  );
  const pause = database.prepare<[{ id: string; now: number; most: number }]>(
    `UPDATE registration SET status = 'paused', updated_at = @now
     WHERE registration_id = @id AND status = 'active' AND failure_count >= @most`,
  );

  // Not while a second verification, asked for by a person, may still be answered.
  const deleteUnverified = database.prepare<[{ id: string; now: number }]>(
    `UPDATE registration SET status = 'deleted', updated_at = @now
     WHERE registration_id = @id AND status = 'pending' AND NOT EXISTS (SELECT 1 FROM delivery d
       WHERE d.registration_id = @id AND d.event_type = 'webhook.verification'
         AND (d.state = 'waiting' OR d.state = 'sending'))`,
  );
  const cancelWaiting = database.prepare<[string]>(
    "UPDATE delivery SET state = 'cancelled' WHERE registration_id = ? AND state = 'waiting'",
  );

  function registrationOf(id: string): RegistrationRow {
    const row = findRegistration.get(id);
    if (row === undefined) throw new Error(`the registration ${id} of a delivery is missing`);
    return row;
  }

  /** When it is sent again; null when it is not. */
  function nextAttemptAt(delivery: DeliveryRow, attempts: number, outcome: RequestOutcome, now: number): number | null {
    const planned = retrySeconds[attempts - 1];
    if (planned === undefined) return null;
    const asked = Math.min(retryAfterSeconds(outcome), assumptions.longestRetryAfterSeconds);
    // Whole, as times are: seconds may have any number of digits after their point.
    const dueAt = now + Math.round(Math.max(planned, asked) * 1000);
    // A retry that would be too late is none.
    return dueAt > delivery.expires_at ? null : dueAt;
  }

  function giveUpUnverified(id: string, now: number): void {
    if (assumptions.unverifiedBecome === "deleted" && deleteUnverified.run({ id, now }).changes > 0) {
      cancelWaiting.run(id);
    }
  }

  return database.transaction((delivery: DeliveryRow, { requests, outcome }: CarriedRequest) => {
    const { delivery_id, registration_id: id, due_at: wasDueAt } = delivery;
    const now = clock.now();
    const attempt = delivery.attempts + 1;
    for (const facts of requests) insertAttempt.run({ delivery_id, ...attemptColumns(facts) });

    const { challenge, status, failure_count, url } = registrationOf(id);
    const settlement = {
      outcome,
      attempt,
      url,
      isTaken: false,
      isVerified: false,
      isPaused: false,
      nextAttemptAt: null,
    };
    if (isTaken(delivery, outcome, challenge)) {
      setState.run({ id: delivery_id, state: "delivered", attempts: attempt, dueAt: wasDueAt });
      const isVerification = delivery.event_type === "webhook.verification";
      const isVerified = isVerification && activate.run({ id, now }).changes > 0;
      if (isVerification) cancelVerifications.run(id);
      forgive.run({ id, now });
      return { ...settlement, isTaken: true, isVerified, failureCount: 0 };
    }
    if (status === "deleted") {
      setState.run({ id: delivery_id, state: "cancelled", attempts: attempt, dueAt: wasDueAt });
      return { ...settlement, failureCount: failure_count };
    }
    countFailure.run({ id, now });
    const isPaused = pause.run({ id, now, most: assumptions.pauseAfterFailures }).changes > 0;
    const dueAt = nextAttemptAt(delivery, attempt, outcome, now);
    const state = dueAt === null ? "failed" : "waiting";
    setState.run({ id: delivery_id, state, attempts: attempt, dueAt: dueAt ?? wasDueAt });
    if (dueAt === null && delivery.event_type === "webhook.verification") giveUpUnverified(id, now);
    return { ...settlement, isPaused, nextAttemptAt: dueAt, failureCount: failure_count + 1 };
  });
}

const challengeAnswer = z.object({ challenge: z.string() });

/** A 2xx; a verification's has to hold the challenge too (service document, webhook.verification). */
function isTaken(delivery: DeliveryRow, outcome: RequestOutcome, challenge: string): boolean {
  if ("failure" in outcome || outcome.status < 200 || outcome.status > 299) return false;
  if (delivery.event_type !== "webhook.verification") return true;
  try {
    const answer = challengeAnswer.safeParse(JSON.parse(outcome.body.toString("utf8")));
    return answer.success && answer.data.challenge === challenge;
  } catch {
    return false;
  }
}

function attemptColumns({ request, outcome, startedAt, durationMs, faults }: RequestFacts): Record<string, unknown> {
  const answer = "failure" in outcome ? null : outcome;
  return {
    started_at: startedAt,
    duration_ms: durationMs,
    request_headers: JSON.stringify(request.headers),
    faults: JSON.stringify(faults),
    status: answer?.status ?? null,
    failure: "failure" in outcome ? outcome.failure : null,
    answer_headers: answer === null ? null : JSON.stringify(answer.headers),
    answer_body: answer?.body ?? null,
  };
}
