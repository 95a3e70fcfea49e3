import type { EventsByType, Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/**
 * An event of Stripe, as far as every event has it. Pass `Stripe.Event` of the package `stripe` to
 * have each in full.
 */
export interface StripeEvent {
  id: string;
  type: string;
  data: { object: Record<string, unknown> };
}

/**
 * Stripe (https://docs.stripe.com/webhooks#verify-manually). The whole `whsec_…` is the key. Stripe
 * tries for three days, with a new signature each time. Not promised: order.
 *
 * @example createReceiver({ sender: stripe<Stripe.Event>(), endpoint: "stripe", … })
 */
export function stripe<Event extends { type: string } = StripeEvent>(
  options: SenderOptions<Event> = {},
): Sender<EventsByType<Event>> {
  return knownSender({
    options,
    name: "stripe",
    signature: {
      header: "stripe-signature",
      list: { between: ",", assign: "=", signature: "v1", time: "t" },
      time: { list: true },
      message: ["time", ".", "body"],
    },
    // A thin event has `related_object` in place of `data`.
    read: ({ json }) => ({
      id: json.id,
      type: json.type,
      subject: json.data?.object?.id ?? json.related_object?.id,
    }),
  });
}
