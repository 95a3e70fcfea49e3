import type { ServiceLocale } from "../../../contract/locale.js";

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
