import type { ServiceLocale } from "../../../api/locale.js";

/** The states of a delivery. The last four are final, though a person can have its event sent again. */
export const DELIVERY_STATES = ["waiting", "sending", "delivered", "failed", "expired", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An event for one registration, as it is stored. */
export interface DeliveryRow {
  delivery_id: number;
  registration_id: string;
  event_id: string;
  locale: ServiceLocale;
  event_type: "signal.published" | "webhook.verification" | "webhook.test";
  state: DeliveryState;
  attempts: number;
  created_at: number;
  expires_at: number;
  due_at: number;
  redelivery_of: number | null;
}
