import { z } from "zod";
import { dateTimeSchema } from "./date-time.js";
import { localeSchema } from "./locale.js";
import { signalTypeSchema } from "./sent-events.js";

export const REGISTRATION_STATUSES = ["pending", "active", "paused", "deleted"] as const;
/** Where a registration stands. */
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

const URI_PIECE = String.raw`(?:[\w\-.~:/?@!$&'()*+,;=]|%[\dA-Fa-f]{2})*`;
/**
 * A URI, and nothing else: `z.url()` alone mends what is none, as the parser of URLs does, and the registration would tell it
 * as it was given. Letters beyond ASCII are for names in their `xn--` form, and for escapes.
 */
const URI = new RegExp(
  String.raw`^[A-Za-z][A-Za-z\d+.-]*://(?![/?#])(?:\[[\dA-Fa-f:.]+\])?${URI_PIECE}(?:#${URI_PIECE})?$`,
);

/** The body of operation 3; unknown keys are refused. */
export const registerWebhookBodySchema = z.strictObject({
  /** An HTTPS endpoint; the service says so itself, as a local one may take plain HTTP on loopback. */
  url: z
    .string()
    .regex(URI, "must be an address such as https://receiver.example/signals, with odd characters escaped")
    .max(2048)
    .pipe(z.url())
    .meta({ format: "uri" }),
  locale: localeSchema.default("en"),
  signal_types: z.array(signalTypeSchema).min(1).max(30),
});

/** What a caller gives to register an endpoint. */
export type RegisterWebhookBody = z.input<typeof registerWebhookBodySchema>;

/** The signal webhook registration (service document, Signal webhook registration). */
export const webhookRegistrationSchema = z.looseObject({
  id: z.string(),
  url: z.url(),
  status: z.enum(REGISTRATION_STATUSES),
  locale: localeSchema,
  // Open in what is read: the service may add signal types.
  signal_types: z.array(z.string()),
  failure_count: z.int(),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
  /** There when the registration was just made, or its secret rotated: shown once. */
  signing_secret: z.string().optional(),
});

/** An endpoint that is registered for signals. */
export type WebhookRegistration = z.infer<typeof webhookRegistrationSchema>;
