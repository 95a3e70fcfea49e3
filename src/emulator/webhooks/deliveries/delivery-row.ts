import type { ServiceLocale } from "../../../api/locale.js";

/** Where a delivery is: the last four are for good, though a person can have its event sent anew. */
export const DELIVERY_STATES = ["waiting", "sending", "delivered", "failed", "expired", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An event on its way to one registration, as it is stored. */
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
