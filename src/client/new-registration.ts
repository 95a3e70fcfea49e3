import type { z } from "zod";
import { webhookRegistrationSchema, type WebhookRegistration } from "../api/webhook-registration.js";

/** One that was just made: its secret is shown now and never again, so an answer without it is none. */
export const newRegistrationSchema: z.ZodType<NewRegistration> = webhookRegistrationSchema.required({
  signing_secret: true,
});

/** A registration that was just made. */
export type NewRegistration = WebhookRegistration & {
  /** What deliveries are signed with. Shown this once. */
  signing_secret: string;
};
