import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { SIGNATURE_HEADER } from "../../../../kit/senders/signature/header.js";
import { signBody } from "../../../../kit/senders/signature/sign.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { ReportEvent } from "../../instance/events.js";
import type { DueWork } from "../../time/scheduler.js";
import type { SentRequest, WebhookFaults } from "../faults/webhook-faults.js";
import { findRegistration } from "../registrations/registration-row.js";
import type { SendRequest, WebhookRequest } from "../transport/send-request.js";
import { DELIVERIES, type EventDelivery } from "./outbox.js";
import { createSettleDelivery } from "./settle-delivery.js";

/**
 * Sends the deliveries that are due. Each registration has its own slots, so a receiver that hangs
 * does not delay other receivers.
 */
interface DeliveryDispatcher extends DueWork {
  /**
   * Aborts the requests in flight. They count as not sent, so they are sent again after a restart.
   */
  close(): Promise<void>;
}

interface DispatcherParts {
  send: SendRequest;
  faults: WebhookFaults;
  report: ReportEvent;
  /** The time for signatures, in milliseconds since 1970. */
  signingTime: () => number;
  /** The machine's time, in milliseconds since 1970. */
  machineNow: () => number;
}

/**
 * The time-out while the clock is advanced, for a registration whose last request timed out. With
 * it, days of retries take seconds.
 */
const TIMEOUT_WHILE_ADVANCING_MS = 500;

// A pending registration gets its verification event alone: one whose endpoint was changed may
// have signals that wait. The deliveries of a paused registration are not sent.
const IS_SENDABLE =
  "(r.status = 'active' OR r.status = 'pending' AND d.event_type = 'webhook.verification')";
// The query looks up each registration, because GROUP BY would read all waiting deliveries.
const DUE_BY_REGISTRATION = `SELECT registration_id, (SELECT min(due_at) FROM delivery d
     WHERE d.registration_id = r.registration_id AND d.state = 'waiting' AND ${IS_SENDABLE}) AS due
   FROM registration r WHERE r.status = 'active' OR r.status = 'pending'`;
const NEXT_OF_REGISTRATION = `${DELIVERIES}
   WHERE d.registration_id = @id AND d.state = 'waiting' AND d.due_at <= @now AND d.expires_at >= @now
     AND ${IS_SENDABLE}
   ORDER BY d.due_at, d.delivery_id LIMIT 1`;

export function createDeliveryDispatcher(
  core: EmulatorCore,
  { send, faults, report, signingTime, machineNow }: DispatcherParts,
): DeliveryDispatcher {
  const { database, clock, scheduler, assumptions } = core;
  const settle = createSettleDelivery(core, report, () => signingTime() - machineNow());
  const stop = new AbortController();
  // Each request in flight has a listener, so Node must not warn about many listeners.
  setMaxListeners(0, stop.signal);
  /** The number of requests in flight, by registration. */
  const inFlight = new Map<string, number>();
  /** Registrations whose last request timed out. */
  const timedOut = new Set<string>();
  /**
   * The delivery of each registration that `reorder` holds back. It is released when a later
   * delivery was answered.
   */
  const heldBack = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();

  // These deliveries were in flight when the process ended. They are sent again, since it is
  // unknown whether they arrived.
  database.exec("UPDATE delivery SET state = 'waiting' WHERE state = 'sending'");

  const onFailure = (error: unknown): void =>
    report({ event: "failed", about: "a delivery could not be stored", error });
  const dueByRegistration = () =>
    database.rows<{ registration_id: string; due: number | null }>(DUE_BY_REGISTRATION);
  const setState = (state: "sending" | "waiting" | "cancelled", deliveryId: number) =>
    database.run("UPDATE delivery SET state = ? WHERE delivery_id = ?", state, deliveryId);

  const countOf = (registrationId: string): number => inFlight.get(registrationId) ?? 0;
  const takeSlot = (registrationId: string) =>
    inFlight.set(registrationId, countOf(registrationId) + 1);
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
      const due = { id: registrationId, now: clock.now() };
      const delivery = database.row<EventDelivery>(NEXT_OF_REGISTRATION, due);
      if (delivery === undefined) return;
      setState("sending", delivery.delivery_id);
      takeSlot(registrationId);
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

  /** Holds back one delivery of a registration. Other deliveries are sent during the wait. */
  async function holdBack(registrationId: string, atMostMs: number): Promise<void> {
    const released = new AbortController();
    heldBack.set(registrationId, released);
    leaveSlot(registrationId);
    await pause(atMostMs, AbortSignal.any([stop.signal, released.signal]));
    heldBack.delete(registrationId);
    takeSlot(registrationId);
  }

  async function attempt(delivery: EventDelivery): Promise<void> {
    const { delivery_id, registration_id: id } = delivery;
    const applied = faults.takeForNextRequest(id);
    if (applied.has("reorder") && !heldBack.has(id))
      await holdBack(id, applied.get("reorder") ?? 0);
    if (applied.has("latency")) await pause(applied.get("latency") ?? 0, stop.signal);
    if (stop.signal.aborted) return;

    // Read just before the request, because the secret or the status may have changed while a fault
    // held the delivery back, and so that the signature has the time of this moment.
    const registration = findRegistration(database, id);
    if (registration?.status !== "active" && registration?.status !== "pending")
      return void setState(
        registration?.status === "deleted" ? "cancelled" : "waiting",
        delivery_id,
      );
    const isShort = scheduler.isAdvancing && timedOut.has(id);
    const request: WebhookRequest = {
      ...signedRequest(delivery, registration.secret, signingTime()),
      breaksOff: (["reset", "cut_body"] as const).find((kind) => applied.has(kind)),
      timeoutMs: isShort
        ? Math.min(TIMEOUT_WHILE_ADVANCING_MS, assumptions.deliveryTimeoutMs)
        : undefined,
    };
    const times = { startedAt: clock.now(), sentAt: machineNow() };
    const shownFaults = [...applied].map(([kind, value]) => ({ kind, value }));
    const began = performance.now();
    const sendOne = async (): Promise<SentRequest> => {
      const outcome = await send(request, stop.signal);
      const durationMs = performance.now() - began;
      return { request, outcome, ...times, durationMs, faults: shownFaults };
    };
    const first = sendOne();
    const requests = await Promise.all(applied.has("duplicate") ? [first, sendOne()] : [first]);
    heldBack.get(id)?.abort();
    if (stop.signal.aborted) return;

    const { outcome } = await first;
    if ("failure" in outcome && outcome.failure === "timed_out") timedOut.add(id);
    else timedOut.delete(id);
    const status = applied.get("status") ?? null;
    const isChanged = status !== null && !("failure" in outcome);
    settle(delivery, { requests, outcome: isChanged ? { ...outcome, status } : outcome });
  }

  async function drained(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  return {
    nextDueAt() {
      if (stop.signal.aborted) return null;
      const sql = "SELECT min(expires_at) FROM delivery WHERE state = 'waiting'";
      const expiry = database.value<number | null>(sql) ?? null;
      // Every waiting delivery expires, so without an expiry no delivery waits.
      if (expiry === null) return null;
      let next = expiry + 1;
      for (const { registration_id, due } of dueByRegistration()) {
        if (due !== null && due < next && hasRoom(registration_id)) next = due;
      }
      return next;
    },
    runDue(nowMs) {
      if (stop.signal.aborted) return drained();
      const sql =
        "UPDATE delivery SET state = 'expired' WHERE state = 'waiting' AND expires_at < ?";
      database.run(sql, nowMs);
      for (const { registration_id, due } of dueByRegistration()) {
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

/** Waits in real time. Ends early when `signal` is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal, ref: false }).catch(() => undefined);

/**
 * Signs the same bytes with a new timestamp for each attempt (service document, Events, rules 1 to
 * 3).
 */
function signedRequest(
  { url, body }: EventDelivery,
  secret: string,
  nowMs: number,
): WebhookRequest {
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
