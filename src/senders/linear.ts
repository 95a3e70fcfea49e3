import { defineSender } from "./define-sender.js";
import type { EventsByType, Sender } from "./sender.js";

/** An event of Linear. */
export interface LinearEvent {
  action: string;
  type: string;
  webhookTimestamp: number;
  data?: Record<string, unknown>;
}

/**
 * Linear (https://linear.app/developers/webhooks#securing-webhooks). The time is `webhookTimestamp` of the body, and may be 60 seconds old. Linear waits for 5
 * seconds and tries again after a minute, an hour and 6 hours.
 *
 * Not promised: the id stands in a header that is not signed. Within the 60 seconds a captured delivery is a duplicate by its body.
 */
export function linear<Event extends { type: string } = LinearEvent>(): Sender<EventsByType<Event>> {
  return defineSender<Event>({
    name: "linear",
    headers: ["linear-event"],
    unsignedId: true,
    toleranceSeconds: 60,
    signature: {
      header: "linear-signature",
      id: "linear-delivery",
      time: { property: "webhookTimestamp", form: "milliseconds" },
    },
    read: ({ json, headers }) => ({
      id: headers["linear-delivery"],
      type: json.type,
      subtype: json.action,
      subject: json.data?.identifier ?? json.data?.id,
    }),
    sample: (now) => ({
      body: {
        action: "create",
        type: "Issue",
        createdAt: new Date(now).toISOString(),
        data: { id: `issue-${now}`, identifier: "ENG-1", title: "A sample" },
        webhookTimestamp: now,
      },
    }),
  });
}
