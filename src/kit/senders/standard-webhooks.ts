import { z } from "zod";
import { functionOption } from "../../base/options/option-schemas.js";
import { defineSender, type SenderDefinition } from "./engine/define-sender.js";
import type { SignatureScheme } from "./engine/scheme.js";
import type { EventsByType, ReadableDelivery, Sender } from "./engine/sender.js";
import { checkSenderOptions, withSubject, type SenderOptions } from "./known-sender.js";
import { firstSampleOf } from "./samples.js";

/** An event by the advice of Standard Webhooks. */
export interface StandardWebhooksEvent {
  type: string;
  timestamp?: string;
  data?: unknown;
}

/** How a sender differs from the specification. */
export interface StandardWebhooksOptions<
  Event = StandardWebhooksEvent,
> extends SenderOptions<Event> {
  /** @default "standard-webhooks" */
  name?: string;
  /** What its headers begin with: `webhook` for `webhook-id`. @default "webhook" */
  headerPrefix?: string;
  /**
   * `base64`: the key is the base64 after `whsec_`. `text`: the whole secret is the key, as Polar
   * has it. `public`: the secret is a public key, in base64 after `whpk_`, and signatures are
   * `v1a`.
   *
   * @default "base64"
   */
  key?: "base64" | "text" | "public";
  /**
   * The type of an event, for a sender whose body has no `type`. It gets what `read` of
   * `defineSender` gets.
   *
   * @default `({ json }) => json.type ?? "event"`
   */
  type?: (delivery: ReadableDelivery) => unknown;
  /** Headers that `type` or your functions read. They are stored with the event. @default none */
  headers?: readonly string[];
  /** Earlier names of this sender, whose stored events it reads too. @default none */
  alsoReads?: readonly string[];
}

const optionsShape = {
  name: z.string().default("standard-webhooks"),
  headerPrefix: z.string().default("webhook"),
  key: z.enum(["base64", "text", "public"]).default("base64"),
  type: functionOption<(delivery: ReadableDelivery) => unknown>().optional(),
  headers: z.array(z.string()).optional(),
  alsoReads: z.array(z.string()).optional(),
};

/**
 * Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
 * OpenAI, Render, Replicate, the auth hooks of Supabase and others. Id and time are signed. An
 * event without a `type` gets the type `event`.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function standardWebhooks<Event extends { type: string } = StandardWebhooksEvent>(
  options: StandardWebhooksOptions<Event> = {},
): Sender<EventsByType<Event>> {
  const checked = checkSenderOptions("standardWebhooks", optionsShape, options);
  const { name, headerPrefix, key, type: typeOf, headers, alsoReads, subject } = checked;
  const definition: SenderDefinition = {
    name,
    headers,
    alsoReads,
    signature: standardSignature({ headerPrefix, key }),
    read: (delivery) => ({
      id: delivery.headers[`${headerPrefix}-id`],
      type: typeOf === undefined ? (delivery.json.type ?? "event") : typeOf(delivery),
    }),
    // Whatever its name is.
    sample: firstSampleOf("standard-webhooks"),
  };
  return defineSender(withSubject(subject, definition)) as Sender<EventsByType<Event>>;
}

type Signing = Required<Pick<StandardWebhooksOptions, "headerPrefix" | "key">>;

/** How Standard Webhooks signs. */
export function standardSignature({ headerPrefix, key }: Signing): SignatureScheme {
  const isPublic = key === "public";
  return {
    header: `${headerPrefix}-signature`,
    list: { between: " ", assign: ",", signature: isPublic ? "v1a" : "v1" },
    id: `${headerPrefix}-id`,
    time: { header: `${headerPrefix}-timestamp` },
    message: ["id", ".", "time", ".", "body"],
    digest: isPublic ? "ed25519" : "sha256",
    encoding: "base64",
    key: key === "text" ? "text" : "base64",
    keyPrefix: isPublic ? "whpk_" : "whsec_",
  };
}

/**
 * Svix (https://docs.svix.com/receiving/verifying-payloads/how-manual), which sends for Clerk,
 * Resend and others: the same with `svix-id` and so on.
 */
export function svix<Event extends { type: string } = StandardWebhooksEvent>(
  options: SenderOptions<Event> = {},
): Sender<EventsByType<Event>> {
  checkSenderOptions("svix", {}, options);
  return standardWebhooks<Event>({ ...options, name: "svix", headerPrefix: "svix" });
}
