import { z } from "zod";
import { SIGNAL_TYPES } from "../../kit/senders/signals/signal-types.js";
import { dateTimeSchema } from "./shared-schemas.js";

/** A signal type that a registration can list (service document, Signal types). */
export const signalTypeSchema = z.enum(SIGNAL_TYPES).describe("The type of a signal.");

// These schemas describe what the service sends. The schemas in events/ are looser, so that a
// receiver accepts later forms.
const envelope = { id: z.string(), version: z.literal("1"), created_at: dateTimeSchema };
const measureSchema = z.looseObject({ value: z.number(), unit: z.string() });

/** A signal as it is sent (service document, signal.published). */
export const signalPublishedSchema = z
  .looseObject({
    ...envelope,
    id: z
      .string()
      .regex(/^sig_\d+_\d+$/)
      .describe(
        "`sig_<signal_id>_<product_id>`, the same in every attempt. Store the id, and process each id once.",
      ),
    type: z.literal("signal.published"),
    data: z.looseObject({
      signal_id: z.int(),
      signal_type: signalTypeSchema,
      product: z.looseObject({ id: z.int(), slug: z.string() }),
      title: z.string(),
      summary: z.string(),
      change: z.looseObject({
        direction: z.string(),
        magnitude: z.number(),
        before: measureSchema,
        after: measureSchema,
      }),
      observed_at: dateTimeSchema,
      period: z.looseObject({ start: z.iso.date(), end: z.iso.date() }),
      published_at: dateTimeSchema,
      evidence_summary: z.string(),
      url: z.string().describe("The public page of the product."),
    }),
  })
  .describe("A newly confirmed signal about a followed product.");

/** The handshake of a new endpoint (service document, webhook.verification). */
export const webhookVerificationSchema = z
  .looseObject({
    ...envelope,
    type: z.literal("webhook.verification"),
    data: z.looseObject({ challenge: z.string() }),
  })
  .describe("Sent soon after a registration. The endpoint must answer with the challenge.");

/** The answer to {@link webhookVerificationSchema}. */
export const challengeAnswerSchema = z
  .looseObject({ challenge: z.string() })
  .describe("The received challenge, unchanged.");

/** A test delivery (service document, webhook.test). */
export const webhookTestSchema = z
  .looseObject({
    ...envelope,
    type: z.literal("webhook.test"),
    data: z.looseObject({ message: z.string() }),
  })
  .describe("A delivery that tests an endpoint.");
