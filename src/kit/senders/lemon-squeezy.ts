import type { Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/** An event of Lemon Squeezy. */
export interface LemonSqueezyEvent {
  meta: { event_name: string; [property: string]: unknown };
  data: { id: string; type: string; [property: string]: unknown };
}

/**
 * Lemon Squeezy (https://docs.lemonsqueezy.com/help/webhooks/signing-requests). It takes 200 alone
 * for a success, and tries 3 more times within minutes.
 *
 * Not promised: there is no id, so the hash of the body is it, and no signed time: a captured
 * delivery is a duplicate for as long as its event is remembered.
 */
export function lemonSqueezy<Event = LemonSqueezyEvent>(
  options: SenderOptions<Event> = {},
): Sender<Record<string, Event>> {
  return knownSender({
    options,
    name: "lemon-squeezy",
    headers: ["x-event-name"],
    signature: { header: "x-signature" },
    read: ({ json }) => ({ id: null, type: json.meta?.event_name, subject: json.data?.id }),
  });
}
