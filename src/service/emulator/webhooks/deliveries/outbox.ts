import type { KnownEvent, SignalEvent } from "../../../../kit/senders/signals/envelope.js";
import { LIMITS } from "../../../contract/limits.js";
import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { RegistrationRow } from "../registrations/registration-row.js";

/** Stores the events and deliveries that are to be sent. */
export type Outbox = ReturnType<typeof createOutbox>;

/** How long after its publication an event can be sent (service document, signal.published). */
export const EVENT_LIFE_MS = LIMITS.signalDelayHours * 3_600_000;

export function createOutbox({ database, clock }: EmulatorCore) {
  function add(
    delivery: Pick<
      DeliveryRow,
      "registration_id" | "event_id" | "locale" | "event_type" | "redelivery_of" | "expires_at"
    >,
  ): number {
    const now = clock.now();
    const fresh = { state: "waiting", attempts: 0, created_at: now, due_at: now };
    return database.put("delivery", { ...delivery, ...fresh });
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
      event_id: string,
      since: number,
    ): number {
      const sql = "SELECT type FROM event WHERE event_id = ? AND locale = ?";
      let event_type = database.value<DeliveryRow["event_type"]>(sql, event_id, locale);
      if (event_type === undefined) {
        const made = event();
        event_type = made.type;
        const body = Buffer.from(JSON.stringify(made));
        database.put("event", { event_id, locale, type: event_type, body });
      }
      const to = { registration_id, event_id, locale, event_type, redelivery_of: null };
      return add({ ...to, expires_at: since + EVENT_LIFE_MS });
    },
    /**
     * Adds a new delivery of the same event: the same event id and bytes, a new signature. @returns
     * the new id
     */
    addAgain(before: DeliveryRow, expires_at: number): number {
      const { delivery_id: redelivery_of, registration_id, event_id, locale, event_type } = before;
      return add({ registration_id, event_id, locale, event_type, redelivery_of, expires_at });
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

/** A delivery with its address and the bytes of its event. */
export type EventDelivery = DeliveryRow & Pick<RegistrationRow, "url"> & { body: Buffer };

/** Selects each {@link EventDelivery}. */
export const DELIVERIES = `SELECT d.*, r.url, e.body FROM delivery d
  JOIN registration r USING (registration_id)
  JOIN event e ON e.event_id = d.event_id AND e.locale = d.locale`;

/** What a signal says; null for another event. */
export const signalIn = ({ event_type, body }: EventDelivery): SignalEvent["data"] | null =>
  event_type === "signal.published" ? (JSON.parse(body.toString()) as SignalEvent).data : null;
