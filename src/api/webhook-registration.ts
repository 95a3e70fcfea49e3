import { z } from "zod";
import { dateTimeSchema } from "./date-time.js";
import { localeSchema } from "./locale.js";
import { signalTypeSchema } from "./sent-events.js";

export const REGISTRATION_STATUSES = ["pending", "active", "paused", "deleted"] as const;
/** The state of a registration. */
export type RegistrationStatus = (typeof REGISTRATION_STATUSES)[number];

const URI_PIECE = String.raw`(?:[\w\-.~:/?@!$&'()*+,;=]|%[\dA-Fa-f]{2})*`;
/**
 * `z.url()` also accepts what the URL parser repairs, such as a blank or a missing slash, and the registration would then
 * show the text as it was given. Letters beyond ASCII need their `xn--` form in a host name, and escapes elsewhere.
 */
const URI = new RegExp(
  String.raw`^[A-Za-z][A-Za-z\d+.-]*://(?![/?#])(?:\[[\dA-Fa-f:.]+\])?${URI_PIECE}(?:#${URI_PIECE})?$`,
);

/** The longest endpoint URL that can be registered, in characters. */
export const LONGEST_ENDPOINT_URL = 2048;

/** The body of operation 3. */
export const registerWebhookBodySchema = z
  .strictObject({
    // The emulator refuses plain HTTP itself: one of its switches allows it on loopback.
    url: z
      .string()
      .regex(URI, "must be an address such as https://receiver.example/signals, with odd characters escaped")
      .max(LONGEST_ENDPOINT_URL)
      .pipe(z.url())
      .meta({
        format: "uri",
        description: "The HTTPS endpoint that receives the events.",
        examples: ["https://receiver.example/signals"],
      }),
    locale: localeSchema.default("en").describe("The language of the events."),
    signal_types: z.array(signalTypeSchema).min(1).max(30).describe("The signal types to send."),
  })
  .describe("Which signals to send, and where to. Unknown keys are refused.");

/** What a caller gives to register an endpoint. */
export type RegisterWebhookBody = z.input<typeof registerWebhookBodySchema>;

/** The signal webhook registration (service document, Signal webhook registration). */
export const webhookRegistrationSchema = z.looseObject({
  id: z.string().describe("An opaque identifier."),
  url: z.url(),
  status: z.enum(REGISTRATION_STATUSES),
  locale: localeSchema,
  // Open where it is read: the service may add signal types.
  signal_types: z.array(z.string()).describe("Values of `SignalType`; the service may add some."),
  failure_count: z.int().describe("The number of failed deliveries."),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
  /** Present only when the registration was just made, or its secret was just rotated. */
  signing_secret: z.string().optional(),
});

/** An endpoint that is registered for signals. */
export type WebhookRegistration = z.infer<typeof webhookRegistrationSchema>;

/** The answer of operation 3. Without its secret it is useless, since the secret is never shown again. */
export const newRegistrationSchema = webhookRegistrationSchema
  .extend({ signing_secret: z.string().describe("The key that signs deliveries. It is shown only once: store it.") })
  .describe("A registration that was just made, with its signing secret.");

/** A registration that was just made. */
export type NewRegistration = WebhookRegistration & {
  /** The key that signs deliveries. It is shown only once: store it. */
  signing_secret: string;
};
