import { SIGNATURE_HEADER } from "../../signature/header.js";
import { signBody } from "../../signature/sign.js";
import type { EmulatorCore } from "../emulator-core.js";
import type { DueWork } from "../time/scheduler.js";
import type { DeliveryRow } from "./delivery-row.js";
import type { RegistrationRow } from "./registration-row.js";
import type { RequestOutcome, SendRequest, WebhookRequest } from "./send-request.js";
import type { SettleDelivery } from "./settle-delivery.js";

/** Sends what is due, to each registration on its own, so that a slow or dead one delays no other. */
export interface DeliveryDispatcher extends DueWork {
  /** Ends what is on its way; it counts as not sent. */
  close(): Promise<void>;
}

type DueDelivery = DeliveryRow & Pick<RegistrationRow, "url" | "secret"> & { body: Buffer };

/**
 * A registration takes part while it is active, and while it is pending for its verification alone. What waits for one
 * that is paused stays, until it is too old.
 */
const TAKES_PART = "(r.status = 'active' OR (r.status = 'pending' AND d.event_type = 'webhook.verification'))";

export function createDeliveryDispatcher(
  { database, clock, assumptions }: EmulatorCore,
  send: SendRequest,
  settle: SettleDelivery,
): DeliveryDispatcher {
  const stop = new AbortController();
  /** How many requests of each registration are on their way. */
  const inFlight = new Map<string, number>();
  const running = new Set<Promise<void>>();

  // What was on its way when the process ended: nobody knows whether it arrived, so it is sent again.
  database.exec("UPDATE delivery SET state = 'waiting' WHERE state = 'sending'");

  const dueByRegistration = database.prepare<[], { registration_id: string; due: number }>(
    `SELECT d.registration_id, min(d.due_at) AS due FROM delivery d JOIN registration r USING (registration_id)
     WHERE d.state = 'waiting' AND ${TAKES_PART} GROUP BY d.registration_id`,
  );
  const take = database.prepare<[string, number], DueDelivery>(
    `SELECT d.*, r.url, r.secret, e.body FROM delivery d
     JOIN registration r USING (registration_id)
     JOIN event e ON e.event_id = d.event_id AND e.locale = d.locale
     WHERE d.registration_id = ? AND d.state = 'waiting' AND d.due_at <= ? AND ${TAKES_PART}
     ORDER BY d.due_at, d.delivery_id LIMIT 1`,
  );
  const markSending = database.prepare<[number]>("UPDATE delivery SET state = 'sending' WHERE delivery_id = ?");

  const hasRoom = (registrationId: string): boolean =>
    (inFlight.get(registrationId) ?? 0) < assumptions.deliveriesInFlight;

  function fill(registrationId: string): void {
    while (!stop.signal.aborted && hasRoom(registrationId)) {
      const delivery = take.get(registrationId, clock.now());
      if (delivery === undefined) return;
      if (delivery.expires_at < clock.now()) {
        settle.expired(delivery);
        continue;
      }
      markSending.run(delivery.delivery_id);
      inFlight.set(registrationId, (inFlight.get(registrationId) ?? 0) + 1);
      const run = attempt(delivery).finally(() => {
        running.delete(run);
        inFlight.set(registrationId, (inFlight.get(registrationId) ?? 1) - 1);
        // Others of this registration may have become due while this one was on its way.
        fill(registrationId);
      });
      running.add(run);
    }
  }

  async function attempt(delivery: DueDelivery): Promise<void> {
    const startedAt = clock.now();
    const began = performance.now();
    const request = signedRequest(delivery, startedAt);
    const outcome = await send(request, stop.signal);
    if (stop.signal.aborted) return;
    settle.attempted(delivery, { request, outcome, startedAt, durationMs: performance.now() - began });
  }

  return {
    nextDueAt() {
      const dues = dueByRegistration.all().filter(({ registration_id }) => hasRoom(registration_id));
      return dues.length === 0 ? null : Math.min(...dues.map(({ due }) => due));
    },
    async runDue(nowMs) {
      for (const { registration_id, due } of dueByRegistration.all()) if (due <= nowMs) fill(registration_id);
      while (running.size > 0) await Promise.all(running);
    },
    async close() {
      stop.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** A fresh t for each attempt, over the same bytes (service document, Events, rules 1 to 3). */
function signedRequest({ url, secret, body }: DueDelivery, nowMs: number): WebhookRequest {
  return {
    url,
    body,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(body.byteLength),
      "User-Agent": "signalbox-emulator",
      [SIGNATURE_HEADER]: signBody({ body, secret, timestamp: Math.floor(nowMs / 1000) }),
    },
  };
}

/** One attempt, as it is kept. */
export interface AttemptFacts {
  request: WebhookRequest;
  outcome: RequestOutcome;
  startedAt: number;
  durationMs: number;
}
