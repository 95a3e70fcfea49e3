import { createHmac } from "node:crypto";
import type { Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/** An event of Zoom. */
export interface ZoomEvent {
  event: string;
  event_ts: number;
  payload: Record<string, unknown>;
}

/**
 * Zoom's tokens. With a colon the answer could be the signature of a delivery, whose message is
 * `v0:{time}:{body}`.
 */
const TOKEN = /^[\w+/-]{1,200}={0,2}$/;

/**
 * Zoom (https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events). The secret is the
 * secret token of the app. Zoom validates the address when it is entered, and every 72 hours. It
 * waits for 3 seconds and tries again 5, 25 and 85 minutes after the first try.
 *
 * Not promised: there is no id, so the hash of the body is it.
 */
export function zoom<Event = ZoomEvent>(
  options: SenderOptions<Event> = {},
): Sender<Record<string, Event>> {
  return knownSender({
    options,
    name: "zoom",
    ackTimeoutMs: 2500,
    // The last retry comes 85 minutes after the first try, and no page says that its time is a new
    // one.
    toleranceSeconds: 5700,
    signature: {
      header: "x-zm-signature",
      prefix: "v0=",
      time: { header: "x-zm-request-timestamp" },
      message: ["v0:", "time", ":", "body"],
    },
    handshake: {
      post: ({ json }, secret) => {
        if (json.event !== "endpoint.url_validation") return null;
        const plainToken: unknown = json.payload.plainToken;
        if (typeof plainToken !== "string" || !TOKEN.test(plainToken)) return "refused";
        return {
          json: {
            plainToken,
            encryptedToken: createHmac("sha256", secret).update(plainToken).digest("hex"),
          },
        };
      },
    },
    read: ({ json }) => ({ id: null, type: json.event, subject: json.payload?.account_id }),
  });
}
