import { z } from "zod";
import { LIMITS } from "./limits.js";
import { signalTypeSchema } from "./sent-events.js";
import { dateTimeSchema, localeSchema, openObject } from "./shared-schemas.js";

const REGISTRATION_STATUSES = ["pending", "active", "paused", "deleted"] as const;
/** The state of a registration. */
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

const URI_PIECE = String.raw`(?:[\w\-.~:/?@!$&'()*+,;=]|%[\dA-Fa-f]{2})*`;
/**
 * Refuses addresses that `z.url()` accepts because the URL parser repairs them, such as one with a
 * space or without a slash. Letters outside ASCII must be in `xn--` form in the host name, and
 * escaped elsewhere.
 */
const URI = new RegExp(
  String.raw`^[A-Za-z][A-Za-z\d+.-]*://(?![/?#])(?:\[[\dA-Fa-f:.]+\])?${URI_PIECE}(?:#${URI_PIECE})?$`,
);

/** The longest endpoint URL that can be registered, in characters. */
export const LONGEST_ENDPOINT_URL = 2048;

/** The body of the request that registers an endpoint. */
export const registerWebhookBodySchema = z
  .strictObject({
    // The schema accepts http://, because an option of the emulator allows it on loopback.
    // Otherwise the emulator refuses it.
    url: z
      .string()
      .regex(
        URI,
        "must be a URL such as https://receiver.example/signals, with special characters escaped",
      )
      .max(LONGEST_ENDPOINT_URL)
      .pipe(z.url())
      .meta({
        format: "uri",
        description: "The HTTPS endpoint that receives the events.",
        examples: ["https://receiver.example/signals"],
      }),
    locale: localeSchema.default("en").describe("The language of the events."),
    signal_types: z
      .array(signalTypeSchema)
      .min(1)
      .max(LIMITS.typesPerRegistration)
      .describe("The signal types to send."),
  })
  .describe("The signals to send, and the endpoint to send them to. Unknown keys are refused.");

/** The body that a caller passes to register an endpoint. */
export type RegisterWebhookBody = z.input<typeof registerWebhookBodySchema>;

/** The signal webhook registration (service document, Signal webhook registration). */
const webhookRegistrationSchema = openObject({
  id: z.string().describe("An opaque identifier."),
  url: z.url(),
  status: z.enum(REGISTRATION_STATUSES),
  locale: localeSchema,
  // Any text is accepted in an answer, because the service can add signal types.
  signal_types: z.array(z.string()).describe("Values of `SignalType`; the service can add types."),
  failure_count: z
    .int()
    .describe("The number of failed attempts. In the emulator, each 2xx answer sets it to 0."),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
  /** Present only right after the registration was created or its secret was rotated. */
  signing_secret: z.string().optional(),
});

/** A registered endpoint. */
export type WebhookRegistration = z.infer<typeof webhookRegistrationSchema>;

/**
 * The answer to a new registration. The secret is required here, because no later answer contains
 * it.
 */
export const newRegistrationSchema = webhookRegistrationSchema
  .extend({
    signing_secret: z
      .string()
      .describe("The secret that signs deliveries. Store it, because no later answer contains it."),
  })
  .describe("A new registration, with its signing secret.");

/** A new registration. */
export type NewRegistration = WebhookRegistration & {
  /** The secret that signs deliveries. Store it, because no later answer contains it. */
  signing_secret: string;
};
