import type { KnownEvent } from "../../../../kit/senders/signals/envelope.js";
import { LIMITS } from "../../../contract/limits.js";
import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { RegistrationRow } from "../registrations/registration-row.js";

/** Stores the events and deliveries that are to be sent. */
export type Outbox = ReturnType<typeof createOutbox>;

/** How long after its publication an event can be sent (service document, signal.published). */
export const EVENT_LIFE_MS = LIMITS.signalDelayHours * 3_600_000;

export function createOutbox({ database, clock }: EmulatorCore) {
  const hasEvent = database.prepare<[string, ServiceLocale]>(
    "SELECT 1 FROM event WHERE event_id = ? AND locale = ?",
  );
  const insertEvent = database.prepare<[string, ServiceLocale, string, Buffer]>(
    "INSERT INTO event VALUES (?, ?, ?, ?)",
  );
  const insert = database.prepare<
    [Omit<DeliveryRow, "delivery_id" | "state" | "attempts" | "event_type">]
  >(
    `INSERT INTO delivery (registration_id, event_id, locale, event_type, state, attempts, created_at, expires_at, due_at,
       redelivery_of)
     SELECT @registration_id, event_id, locale, type, 'waiting', 0, @created_at, @expires_at, @due_at, @redelivery_of
     FROM event WHERE event_id = @event_id AND locale = @locale`,
  );

  function insertDelivery(
    to: Pick<
      DeliveryRow,
      "registration_id" | "event_id" | "locale" | "redelivery_of" | "expires_at"
    >,
  ): number {
    const now = clock.now();
    return Number(insert.run({ ...to, created_at: now, due_at: now }).lastInsertRowid);
  }

  return {
    /**
     * Adds a delivery of an event to a registration, due now. The bytes of an event are made once
     * for each language.
     *
     * @param since the start of the 24 hours in which the event can be sent, in milliseconds since
     * 1970
     * @returns the id of the delivery
     */
    add(
      { registration_id, locale }: Pick<RegistrationRow, "registration_id" | "locale">,
      event: () => KnownEvent,
      eventId: string,
      since: number,
    ): number {
      if (hasEvent.get(eventId, locale) === undefined) {
        const made = event();
        insertEvent.run(eventId, locale, made.type, Buffer.from(JSON.stringify(made)));
      }
      const expires_at = since + EVENT_LIFE_MS;
      return insertDelivery({
        registration_id,
        locale,
        event_id: eventId,
        redelivery_of: null,
        expires_at,
      });
    },
    /**
     * Adds a new delivery of the same event: the same event id and bytes, a new signature. @returns
     * the new id
     */
    addAgain(
      { delivery_id, registration_id, event_id, locale }: DeliveryRow,
      expires_at: number,
    ): number {
      return insertDelivery({
        registration_id,
        event_id,
        locale,
        redelivery_of: delivery_id,
        expires_at,
      });
    },
  };
}

/** The states of a delivery. The last four are final. Redelivery creates a new delivery. */
export const DELIVERY_STATES = [
  "waiting",
  "sending",
  "delivered",
  "failed",
  "expired",
  "cancelled",
] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The types of events that are delivered. */
export const EVENT_TYPES = ["signal.published", "webhook.verification", "webhook.test"] as const;

/** A delivery as it is stored: one event for one registration. */
export interface DeliveryRow {
  delivery_id: number;
  registration_id: string;
  event_id: string;
  locale: ServiceLocale;
  event_type: (typeof EVENT_TYPES)[number];
  state: DeliveryState;
  attempts: number;
  created_at: number;
  expires_at: number;
  due_at: number;
  redelivery_of: number | null;
}
