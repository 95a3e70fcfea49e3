import type { Sender } from "./engine/sender.js";
import { knownSender, type SenderOptions } from "./known-sender.js";

/** A notification of Twitch. */
export interface TwitchEvent {
  subscription: { id: string; type: string; status: string; condition: Record<string, string> };
  event?: Record<string, unknown>;
  /** Of `drop.entitlement.grant`, whose notifications are batches. */
  events?: Record<string, unknown>[];
}

/**
 * Twitch EventSub (https://dev.twitch.tv/docs/eventsub/handling-webhook-events). Id and time are
 * signed; a message may be 10 minutes old. The type is that of the subscription; when Twitch
 * revokes one, the type is `revocation` and the subtype its status.
 */
export function twitch<Event = TwitchEvent>(
  options: SenderOptions<Event> = {},
): Sender<Record<string, Event>> {
  return knownSender({
    options,
    name: "twitch",
    headers: ["twitch-eventsub-message-type", "twitch-eventsub-message-retry"],
    toleranceSeconds: 600,
    signature: {
      header: "twitch-eventsub-message-signature",
      prefix: "sha256=",
      id: "twitch-eventsub-message-id",
      time: { header: "twitch-eventsub-message-timestamp", form: "iso" },
      message: ["id", "time", "body"],
    },
    // The body tells what a message is, since its header is not signed.
    handshake: {
      post: ({ json }) => (typeof json.challenge === "string" ? { text: json.challenge } : null),
    },
    read({ json, headers }) {
      const { subscription, event, events } = json;
      const id = headers["twitch-eventsub-message-id"];
      if (event === undefined && events === undefined)
        return { id, type: "revocation", subtype: subscription.status, subject: subscription.type };
      return {
        id,
        type: subscription.type,
        subject: event?.broadcaster_user_login ?? event?.user_login,
      };
    },
  });
}
