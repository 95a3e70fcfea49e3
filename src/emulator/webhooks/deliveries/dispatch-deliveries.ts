import { setMaxListeners } from "node:events";
import { SIGNATURE_HEADER } from "../../../signature/header.js";
import { signBody } from "../../../signature/sign.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { DueWork } from "../../time/scheduler.js";
import type { CarriedRequest, CarryRequest } from "../faults/create-faulty-sender.js";
import type { DeliveryRow } from "./delivery-row.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { WebhookRequest } from "../transport/send-request.js";
import type { WebhookFaults } from "../faults/webhook-faults.js";

/** Sends what is due, to each registration on its own, so that a slow or dead one delays no other. */
export interface DeliveryDispatcher extends DueWork {
  /** Ends what is on its way; it counts as not sent. */
  close(): Promise<void>;
}

/** What the dispatcher sends with. */
export interface DispatcherParts {
  carry: CarryRequest;
  /** Stores what an attempt came to. */
  settle: (delivery: DeliveryRow, carried: CarriedRequest) => void;
  faults: WebhookFaults;
  /** The time of signatures, in milliseconds since 1970. */
  signingTime: () => number;
  /** Called with the error of what could not be stored. */
  onFailure: (error: unknown) => void;
}

/** How long one that hung is waited for while the clock is moved: days of retries are not to take minutes. */
const IMPATIENT_MS = 500;

/** How long a delivery rests that could not be written down. */
const REST_MS = 60_000;

type DueDelivery = DeliveryRow & Pick<RegistrationRow, "url"> & { body: Buffer };

export function createDeliveryDispatcher(
  { database, clock, scheduler, assumptions }: EmulatorCore,
  { carry, settle, faults, signingTime, onFailure }: DispatcherParts,
): DeliveryDispatcher {
  const stop = new AbortController();
  // As many listen as there are requests on their way.
  setMaxListeners(0, stop.signal);
  /** How many requests of each registration are on their way. */
  const inFlight = new Map<string, number>();
  /** Registrations whose last request took too long. */
  const hung = new Set<string>();
  const running = new Set<Promise<void>>();
  /** Deliveries of which nobody wrote down what came of them; they are sent again when `unknownUntil` is past. */
  const unknown = new Set<number>();
  let unknownUntil = 0;
  let draining: Promise<void> | null = null;

  // What was on its way when the process ended: nobody knows whether it arrived, so it is sent again.
  database.exec("UPDATE delivery SET state = 'waiting' WHERE state = 'sending'");

  // One that is pending has its verification alone, and tests where these are assumed to go to it. What waits for one that is
  // paused stays, until it is too old. A look-up for each registration: to group all that waits would read all of it.
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
  // Held back on purpose, a delivery may find it rotated, paused or deleted.
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
    // Others of this registration may have become due while this one was on its way.
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
          // Its retry may be due before anything else is, and long before the slowest of those on their way is done.
          if (!stop.signal.aborted) scheduler.wake();
        });
      running.add(run);
    }
  }

  async function attempt(delivery: DueDelivery): Promise<void> {
    const { registration_id: registrationId } = delivery;
    const carried = await carry({
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
      async yieldSlot(whileHeld) {
        // Held before another one begins, which is to see that.
        const held = whileHeld();
        leaveSlot(registrationId);
        await held;
        inFlight.set(registrationId, countOf(registrationId) + 1);
      },
    });
    if (stop.signal.aborted) return;
    if (carried === null) {
      setAside.run(delivery.delivery_id);
      return;
    }
    if ("failure" in carried.outcome && carried.outcome.failure === "timed_out") hung.add(registrationId);
    else hung.delete(registrationId);
    settle(delivery, carried);
  }

  function drained(): Promise<void> {
    // The function below would be done before its promise is kept, which then stood for all that is sent later.
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

/** A fresh t for each attempt, over the same bytes (service document, Events, rules 1 to 3). */
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
