import { z } from "zod";
import type { RegistrationStatus } from "../../../api/webhook-registration.js";
import { itemsOf } from "../../instance/allowed-values.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { CarriedRequest, RequestFacts } from "../faults/create-faulty-sender.js";
import type { DeliveryRow, DeliveryState } from "./delivery-row.js";
import { retryAfterSeconds } from "./asked-retry-after.js";
import type { RequestOutcome } from "../transport/send-request.js";

/** Writes down what came of an attempt, and what follows from it. */
export type SettleDelivery = (delivery: DeliveryRow, carried: CarriedRequest) => void;

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
  const registrationOf = database.prepare<[string], { challenge: string; status: RegistrationStatus }>(
    "SELECT challenge, status FROM registration WHERE registration_id = ?",
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
    const attempts = delivery.attempts + 1;
    for (const facts of requests) insertAttempt.run({ delivery_id, ...attemptColumns(facts) });

    const registration = registrationOf.get(id);
    if (isTaken(delivery, outcome, registration?.challenge)) {
      setState.run({ id: delivery_id, state: "delivered", attempts, dueAt: wasDueAt });
      if (delivery.event_type === "webhook.verification") {
        activate.run({ id, now });
        cancelVerifications.run(id);
      }
      forgive.run({ id, now });
      return;
    }
    if (registration?.status === "deleted") {
      setState.run({ id: delivery_id, state: "cancelled", attempts, dueAt: wasDueAt });
      return;
    }
    countFailure.run({ id, now });
    pause.run({ id, now, most: assumptions.pauseAfterFailures });
    const dueAt = nextAttemptAt(delivery, attempts, outcome, now);
    setState.run({ id: delivery_id, state: dueAt === null ? "failed" : "waiting", attempts, dueAt: dueAt ?? wasDueAt });
    if (dueAt === null && delivery.event_type === "webhook.verification") giveUpUnverified(id, now);
  });
}

const challengeAnswer = z.object({ challenge: z.string() });

/** A 2xx; a verification's has to hold the challenge too (service document, webhook.verification). */
function isTaken(delivery: DeliveryRow, outcome: RequestOutcome, challenge: string | undefined): boolean {
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
