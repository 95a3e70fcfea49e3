import { setMaxListeners } from "node:events";
import { SIGNATURE_HEADER } from "../../../../kit/senders/signature/header.js";
import { signBody } from "../../../../kit/senders/signature/sign.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { DueWork } from "../../time/scheduler.js";
import type { SendWithFaults, SentDelivery, WebhookFaults } from "../faults/webhook-faults.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { WebhookRequest } from "../transport/send-request.js";
import type { DeliveryRow } from "./outbox.js";

/**
 * Sends the deliveries that are due. Each registration has its own slots, so a receiver that hangs
 * does not delay other receivers.
 */
export interface DeliveryDispatcher extends DueWork {
  /**
   * Aborts the requests in flight. They count as not sent, so they are sent again after a restart.
   */
  close(): Promise<void>;
}

interface DispatcherParts {
  send: SendWithFaults;
  /** Stores the result of an attempt. */
  settle: (delivery: DueDelivery, sent: SentDelivery) => void;
  faults: WebhookFaults;
  /** The time for signatures, in milliseconds since 1970. */
  signingTime: () => number;
  /** The machine's time, in milliseconds since 1970. */
  machineNow: () => number;
  /** Called with the error when a result cannot be stored. */
  onFailure: (error: unknown) => void;
}

/**
 * The time-out while the clock is advanced, for a registration whose last request timed out. With
 * it, days of retries take seconds.
 */
const TIMEOUT_WHILE_ADVANCING_MS = 500;

/** A delivery that is sent now. */
export type DueDelivery = DeliveryRow & Pick<RegistrationRow, "url"> & { body: Buffer };

export function createDeliveryDispatcher(
  { database, clock, scheduler, assumptions }: EmulatorCore,
  { send, settle, faults, signingTime, machineNow, onFailure }: DispatcherParts,
): DeliveryDispatcher {
  const stop = new AbortController();
  // Each request in flight has a listener, so Node must not warn about many listeners.
  setMaxListeners(0, stop.signal);
  /** The number of requests in flight, by registration. */
  const inFlight = new Map<string, number>();
  /** Registrations whose last request timed out. */
  const timedOut = new Set<string>();
  const running = new Set<Promise<void>>();
  let draining: Promise<void> | null = null;

  // These deliveries were in flight when the process ended. They are sent again, since it is
  // unknown whether they arrived.
  database.exec("UPDATE delivery SET state = 'waiting' WHERE state = 'sending'");

  // A pending registration gets its verification event alone: one whose endpoint was changed may
  // have signals that wait. The deliveries of a paused registration are not sent.
  const isSendable =
    "(r.status = 'active' OR r.status = 'pending' AND d.event_type = 'webhook.verification')";
  // The query looks up each registration, because GROUP BY would read all waiting deliveries.
  const dueByRegistration = database.prepare<[], { registration_id: string; due: number | null }>(
    `SELECT registration_id, (SELECT min(due_at) FROM delivery d
       WHERE d.registration_id = r.registration_id AND d.state = 'waiting' AND ${isSendable}) AS due
     FROM registration r WHERE r.status = 'active' OR r.status = 'pending'`,
  );
  const firstExpiry = database
    .prepare<[], number | null>("SELECT min(expires_at) FROM delivery WHERE state = 'waiting'")
    .pluck();
  const expire = database.prepare<[number]>(
    "UPDATE delivery SET state = 'expired' WHERE state = 'waiting' AND expires_at < ?",
  );
  const take = database.prepare<[{ id: string; now: number }], DueDelivery>(
    `SELECT d.*, r.url, e.body FROM delivery d
     JOIN registration r USING (registration_id)
     JOIN event e ON e.event_id = d.event_id AND e.locale = d.locale
     WHERE d.registration_id = @id AND d.state = 'waiting' AND d.due_at <= @now AND d.expires_at >= @now
       AND ${isSendable}
     ORDER BY d.due_at, d.delivery_id LIMIT 1`,
  );
  // Read just before the request, because the secret or the status may change while a fault holds
  // the delivery back.
  const secretOf = database
    .prepare<[string], string>(
      `SELECT secret FROM registration
       WHERE registration_id = ? AND (status = 'active' OR status = 'pending')`,
    )
    .pluck();
  const setAside = database.prepare<[number]>(
    `UPDATE delivery SET state = iif((SELECT status FROM registration r
       WHERE r.registration_id = delivery.registration_id) = 'deleted', 'cancelled', 'waiting')
     WHERE delivery_id = ?`,
  );
  const markSending = database.prepare<[number]>(
    "UPDATE delivery SET state = 'sending' WHERE delivery_id = ?",
  );

  const countOf = (registrationId: string): number => inFlight.get(registrationId) ?? 0;
  const hasRoom = (registrationId: string): boolean =>
    countOf(registrationId) < assumptions.deliveriesInFlight;

  function leaveSlot(registrationId: string): void {
    inFlight.set(registrationId, countOf(registrationId) - 1);
    // Other deliveries of this registration may have become due meanwhile.
    try {
      fill(registrationId);
    } catch (error) {
      onFailure(error);
    }
  }

  function fill(registrationId: string): void {
    while (!stop.signal.aborted && hasRoom(registrationId)) {
      const delivery = take.get({ id: registrationId, now: clock.now() });
      if (delivery === undefined) return;
      markSending.run(delivery.delivery_id);
      inFlight.set(registrationId, countOf(registrationId) + 1);
      // A delivery whose result cannot be stored is sent again after a restart.
      const run = attempt(delivery)
        .catch(onFailure)
        .finally(() => {
          running.delete(run);
          leaveSlot(registrationId);
          // The retry of this delivery may be due before all other work, so the scheduler must set
          // its timer again.
          if (!stop.signal.aborted) scheduler.wake();
        });
      running.add(run);
    }
  }

  async function attempt(delivery: DueDelivery): Promise<void> {
    const { registration_id: registrationId } = delivery;
    const sent = await send({
      registrationId,
      faults: faults.takeForNextRequest(registrationId),
      signal: stop.signal,
      sign: () => {
        const secret = secretOf.get(registrationId);
        if (secret === undefined) return null;
        const isShort = scheduler.isAdvancing && timedOut.has(registrationId);
        const timeoutMs = isShort
          ? Math.min(TIMEOUT_WHILE_ADVANCING_MS, assumptions.deliveryTimeoutMs)
          : undefined;
        const request = { ...signedRequest(delivery, secret, signingTime()), timeoutMs };
        return { request, startedAt: clock.now(), sentAt: machineNow() };
      },
      async yieldSlot(wait) {
        // This call records that a delivery is held back, before `leaveSlot` sends the next one:
        // `reorder` holds back only one.
        const waiting = wait();
        leaveSlot(registrationId);
        await waiting;
        inFlight.set(registrationId, countOf(registrationId) + 1);
      },
    });
    if (stop.signal.aborted) return;
    if (sent === null) {
      setAside.run(delivery.delivery_id);
      return;
    }
    if ("failure" in sent.outcome && sent.outcome.failure === "timed_out")
      timedOut.add(registrationId);
    else timedOut.delete(registrationId);
    settle(delivery, sent);
  }

  function drained(): Promise<void> {
    // If nothing runs, the function below ends before its promise is assigned to `draining`, which
    // would then never become null.
    if (running.size === 0) return Promise.resolve();
    draining ??= (async () => {
      while (running.size > 0) await Promise.all(running);
      draining = null;
    })();
    return draining;
  }

  return {
    nextDueAt() {
      if (stop.signal.aborted) return null;
      const expiry = firstExpiry.get() ?? null;
      // Every waiting delivery expires, so without an expiry no delivery waits.
      if (expiry === null) return null;
      let next = expiry + 1;
      for (const { registration_id, due } of dueByRegistration.all()) {
        if (due !== null && due < next && hasRoom(registration_id)) next = due;
      }
      return next;
    },
    runDue(nowMs) {
      if (stop.signal.aborted) return drained();
      expire.run(nowMs);
      for (const { registration_id, due } of dueByRegistration.all()) {
        if (due !== null && due <= nowMs) fill(registration_id);
      }
      return drained();
    },
    close() {
      stop.abort();
      return drained();
    },
  };
}

/**
 * Signs the same bytes with a new timestamp for each attempt (service document, Events, rules 1 to
 * 3).
 */
function signedRequest({ url, body }: DueDelivery, secret: string, nowMs: number): WebhookRequest {
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
