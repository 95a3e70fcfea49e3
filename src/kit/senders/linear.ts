import type { EventsByType, Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/** An event of Linear. */
export interface LinearEvent {
  action: string;
  type: string;
  webhookTimestamp: number;
  data?: Record<string, unknown>;
}

/** The least `retention.keyDays` of a receiver. */
const LEAST_KEY_SECONDS = 2 * 24 * 60 * 60;

/**
 * Linear (https://linear.app/developers/webhooks#securing-webhooks). It waits for 5 seconds, takes
 * 200 alone for a success, and tries again after a minute, an hour and 6 hours. Its id, in
 * `Linear-Delivery`, is not signed. So the hash of the body is the id: the body has a signed time,
 * so that no two events have the same bytes, and a captured delivery is a duplicate.
 */
export function linear<Event extends { type: string } = LinearEvent>(
  options: SenderOptions<Event> = {},
): Sender<EventsByType<Event>> {
  return knownSender({
    options,
    name: "linear",
    headers: ["linear-event", "linear-delivery"],
    // Linear's library allows 60 seconds, and so refuses Linear's own retries, which may have the
    // bytes of the first try. The body may be as old as its id is remembered at least, less the 300
    // seconds that it may be ahead.
    toleranceSeconds: LEAST_KEY_SECONDS - 300,
    // Version 0.2.0 had another id, and stored the hash beside it: an event that it has stored is
    // found by that.
    unsignedId: true,
    unsignedFacts: [],
    repeatedBody: "drop",
    signature: {
      header: "linear-signature",
      time: { property: "webhookTimestamp", form: "milliseconds" },
    },
    read: ({ json }) => ({
      id: null,
      type: json.type,
      subtype: json.action,
      subject:
        json.data?.identifier ??
        json.data?.id ??
        json.issueData?.identifier ??
        json.notification?.issue?.identifier ??
        json.agentSession?.id,
    }),
  });
}
