/** The names of the senders of `signalbox/senders`, for help texts that load none of them. */
export const SENDER_NAMES = [
  "standard-webhooks",
  "svix",
  "stripe",
  "github",
  "gitlab",
  "shopify",
  "slack",
  "paddle",
  "lemon-squeezy",
  "linear",
  "twilio",
  "zoom",
  "meta",
  "twitch",
] as const;

/** The name of a sender of `signalbox/senders`. */
export type SenderName = (typeof SENDER_NAMES)[number];
