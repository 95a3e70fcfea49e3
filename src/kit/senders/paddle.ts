import type { Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/** A notification of Paddle Billing. */
export interface PaddleEvent {
  event_id: string;
  event_type: string;
  occurred_at: string;
  data: Record<string, unknown>;
}

/**
 * Paddle Billing (https://developer.paddle.com/webhooks/signature-verification). The whole
 * `pdl_ntfset_…` is the key. Paddle waits for 5 seconds, takes 200 alone for a success, and tries
 * for 3 days.
 *
 * Its own library refuses a signature that is more than 5 seconds old. 300 are taken here, since a
 * clock may be wrong by more than 5, and the signed id keeps a captured delivery out. Not promised:
 * order.
 */
export function paddle<Event extends { event_type: string } = PaddleEvent>(
  options: SenderOptions<Event> = {},
): Sender<Record<string, Event>> {
  return knownSender({
    options,
    name: "paddle",
    signature: {
      header: "paddle-signature",
      list: { between: ";", assign: "=", signature: "h1", time: "ts" },
      time: { list: true },
      message: ["time", ":", "body"],
    },
    read: ({ json }) => ({ id: json.event_id, type: json.event_type, subject: json.data?.id }),
  });
}
