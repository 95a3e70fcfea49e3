import { setMaxListeners } from "node:events";
import { SIGNATURE_HEADER } from "../../../signature/header.js";
import { signBody } from "../../../signature/sign.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { DueWork } from "../../time/scheduler.js";
import type { SendWithFaults, SentDelivery } from "../faults/create-faulty-sender.js";
import type { DeliveryRow } from "./delivery-row.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { WebhookRequest } from "../transport/send-request.js";
import type { WebhookFaults } from "../faults/webhook-faults.js";

/** Sends the deliveries that are due, for each registration on its own: a slow or dead receiver delays no other. */
export interface DeliveryDispatcher extends DueWork {
  /** Aborts the requests that are in flight; they count as not sent. */
  close(): Promise<void>;
}

interface DispatcherParts {
  send: SendWithFaults;
  /** Stores the result of an attempt. */
  settle: (delivery: DeliveryRow, sent: SentDelivery) => void;
  faults: WebhookFaults;
  /** The time of signatures, in milliseconds since 1970. */
  signingTime: () => number;
  /** Called with the error when a result cannot be stored. */
  onFailure: (error: unknown) => void;
}

/** The time-out for a registration that hung, while the clock is moved: days of retries should not take minutes. */
const IMPATIENT_MS = 500;

/** The wait after the result of a delivery could not be stored. */
const REST_MS = 60_000;

type DueDelivery = DeliveryRow & Pick<RegistrationRow, "url"> & { body: Buffer };

export function createDeliveryDispatcher(
  { database, clock, scheduler, assumptions }: EmulatorCore,
  { send, settle, faults, signingTime, onFailure }: DispatcherParts,
): DeliveryDispatcher {
  const stop = new AbortController();
  // Each request in flight has a listener.
  setMaxListeners(0, stop.signal);
  /** The number of requests in flight, by registration. */
  const inFlight = new Map<string, number>();
  /** Registrations whose last request timed out. */
  const hung = new Set<string>();
  const running = new Set<Promise<void>>();
  /** Deliveries whose result could not be stored; they are sent again after `unknownUntil`. */
  const unknown = new Set<number>();
  let unknownUntil = 0;
  let draining: Promise<void> | null = null;

  // These were in flight when the process ended. They may have arrived or not, so they are sent again.
  database.exec("UPDATE delivery SET state = 'waiting' WHERE state = 'sending'");

  // A pending registration has only its verification. The deliveries of a paused one wait until they expire. The query looks
  // up each registration: grouping all waiting deliveries would read all of them.
  const dueByRegistration = database.prepare<[], { registration_id: string; due: number | null }>(
    `SELECT registration_id, (SELECT min(due_at) FROM delivery d
       WHERE d.registration_id = r.registration_id AND d.state = 'waiting') AS due
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
       AND (r.status = 'active' OR r.status = 'pending')
     ORDER BY d.due_at, d.delivery_id LIMIT 1`,
  );
  // While a fault holds a delivery back, its registration may be rotated, paused or deleted.
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
  const markSending = database.prepare<[number]>("UPDATE delivery SET state = 'sending' WHERE delivery_id = ?");

  const putBack = database.prepare<[number]>(
    "UPDATE delivery SET state = 'waiting' WHERE delivery_id = ? AND state = 'sending'",
  );

  const countOf = (registrationId: string): number => inFlight.get(registrationId) ?? 0;
  const hasRoom = (registrationId: string): boolean => countOf(registrationId) < assumptions.deliveriesInFlight;

  function leaveSlot(registrationId: string): void {
    inFlight.set(registrationId, countOf(registrationId) - 1);
    // Others of this registration may have become due while this one was in flight.
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
      const run = attempt(delivery)
        .catch((error: unknown) => {
          unknown.add(delivery.delivery_id);
          unknownUntil = clock.now() + REST_MS;
          onFailure(error);
        })
        .finally(() => {
          running.delete(run);
          leaveSlot(registrationId);
          // Its retry may be due before all other work, and before the slowest request in flight is done.
          if (!stop.signal.aborted) scheduler.wake();
        });
      running.add(run);
    }
  }

  async function attempt(delivery: DueDelivery): Promise<void> {
    const { registration_id: registrationId } = delivery;
    const sent = await send({
      registrationId,
      faults: faults.meet(registrationId),
      signal: stop.signal,
      sign: () => {
        const secret = secretOf.get(registrationId);
        if (secret === undefined) return null;
        const isImpatient = scheduler.isAdvancing && hung.has(registrationId);
        const timeoutMs = isImpatient ? Math.min(IMPATIENT_MS, assumptions.deliveryTimeoutMs) : undefined;
        const request = { ...signedRequest(delivery, secret, signingTime()), timeoutMs };
        return { request, startedAt: clock.now() };
      },
      async yieldSlot(wait) {
        // The wait starts before the next delivery, which then knows that one is held back.
        const held = wait();
        leaveSlot(registrationId);
        await held;
        inFlight.set(registrationId, countOf(registrationId) + 1);
      },
    });
    if (stop.signal.aborted) return;
    if (sent === null) {
      setAside.run(delivery.delivery_id);
      return;
    }
    if ("failure" in sent.outcome && sent.outcome.failure === "timed_out") hung.add(registrationId);
    else hung.delete(registrationId);
    settle(delivery, sent);
  }

  function drained(): Promise<void> {
    // Without running requests the function below would end before `draining` is set, and leave a promise that is done.
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
      const known = unknown.size > 0 ? unknownUntil : null;
      if (expiry === null) return known;
      let next = Math.min(expiry + 1, known ?? Infinity);
      for (const { registration_id, due } of dueByRegistration.all()) {
        if (due !== null && due < next && hasRoom(registration_id)) next = due;
      }
      return next;
    },
    runDue(nowMs) {
      if (stop.signal.aborted) return drained();
      if (unknownUntil <= nowMs) {
        for (const id of unknown) putBack.run(id);
        unknown.clear();
      }
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

/** Each attempt has a new timestamp, over the same bytes (service document, Events, rules 1 to 3). */
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
