import { z } from "zod";
import type { EmulatorCore } from "../emulator-core.js";
import type { DeliveryRow } from "./delivery-row.js";
import type { AttemptFacts } from "./dispatch-deliveries.js";
import type { RequestOutcome } from "./send-request.js";

/** Writes down what came of a delivery, and what follows from it. */
export interface SettleDelivery {
  attempted(delivery: DeliveryRow, facts: AttemptFacts): void;
  expired(delivery: DeliveryRow): void;
}

export function createSettleDelivery({ database, clock, assumptions }: EmulatorCore): SettleDelivery {
  const retryAfterSeconds = assumptions.retrySeconds.split(",").map(Number);
  const insertAttempt = database.prepare<[Record<string, unknown>]>(
    `INSERT INTO attempt (delivery_id, started_at, duration_ms, request_headers, status, failure, answer_headers, answer_body)
     VALUES (@delivery_id, @started_at, @duration_ms, @request_headers, @status, @failure, @answer_headers, @answer_body)`,
  );
  const setState = database.prepare<[{ delivery_id: number; state: string; attempts: number; due_at: number }]>(
    "UPDATE delivery SET state = @state, attempts = @attempts, due_at = @due_at WHERE delivery_id = @delivery_id",
  );
  const challengeOf = database.prepare<[string], { challenge: string }>(
    "SELECT challenge FROM registration WHERE registration_id = ?",
  );
  const activate = database.prepare<[{ id: string; now: number }]>(
    "UPDATE registration SET status = 'active', updated_at = @now WHERE registration_id = @id AND status = 'pending'",
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

  const attempted = database.transaction((delivery: DeliveryRow, facts: AttemptFacts) => {
    const { delivery_id, registration_id: id } = delivery;
    const now = clock.now();
    const attempts = delivery.attempts + 1;
    insertAttempt.run({
      delivery_id,
      started_at: facts.startedAt,
      duration_ms: facts.durationMs,
      request_headers: JSON.stringify(facts.request.headers),
      ...answerColumns(facts.outcome),
    });
    if (isTaken(delivery, facts.outcome, challengeOf.get(id)?.challenge)) {
      setState.run({ delivery_id, state: "delivered", attempts, due_at: delivery.due_at });
      if (delivery.event_type === "webhook.verification") activate.run({ id, now });
      forgive.run({ id, now });
      return;
    }
    countFailure.run({ id, now });
    pause.run({ id, now, most: assumptions.pauseAfterFailures });
    const delay = retryAfterSeconds[attempts - 1];
    const dueAt = delay === undefined ? null : now + delay * 1000;
    // A retry that would be too late is none.
    if (dueAt === null || dueAt > delivery.expires_at) {
      setState.run({ delivery_id, state: "failed", attempts, due_at: delivery.due_at });
    } else {
      setState.run({ delivery_id, state: "waiting", attempts, due_at: dueAt });
    }
  });

  return {
    attempted(delivery, facts) {
      attempted(delivery, facts);
    },
    expired({ delivery_id, attempts, due_at }) {
      setState.run({ delivery_id, state: "expired", attempts, due_at });
    },
  };
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

function answerColumns(outcome: RequestOutcome): Record<string, unknown> {
  if ("failure" in outcome) return { status: null, failure: outcome.failure, answer_headers: null, answer_body: null };
  const { status, headers, body } = outcome;
  return { status, failure: null, answer_headers: JSON.stringify(headers), answer_body: body };
}
