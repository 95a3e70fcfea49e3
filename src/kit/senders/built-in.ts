import { github } from "./github.js";
import { gitlab } from "./gitlab.js";
import { lemonSqueezy } from "./lemon-squeezy.js";
import { linear } from "./linear.js";
import { meta } from "./meta.js";
import { paddle } from "./paddle.js";
import type { AnySender } from "./engine/sender.js";
import { SENDER_NAMES, type SenderName } from "./sender-names.js";
import { shopify } from "./shopify.js";
import { signals } from "./signals/signals.js";
import { slack } from "./slack.js";
import { standardWebhooks, svix } from "./standard-webhooks.js";
import { stripe } from "./stripe.js";
import { twilio } from "./twilio.js";
import { twitch } from "./twitch.js";
import { zoom } from "./zoom.js";

/** What a tool knows and the sender needs. */
export interface ToolOptions {
  publicUrl?: string | undefined;
  verifyToken?: string | undefined;
  /** Of GitLab one that is no signing token is sent as it is. */
  secret?: string | undefined;
}

const FACTORIES: Readonly<Record<SenderName, (options: ToolOptions) => AnySender>> = {
  "standard-webhooks": () => standardWebhooks(),
  svix,
  stripe,
  github: () => github(),
  gitlab: ({ secret = "whsec_" }) => gitlab({ token: !secret.startsWith("whsec_") }),
  shopify: () => shopify(),
  slack,
  paddle,
  "lemon-squeezy": lemonSqueezy,
  linear,
  twilio: ({ publicUrl = "https://receiver.invalid" }) => twilio({ publicUrl }),
  zoom,
  meta: ({ verifyToken = "unknown" }) => meta({ verifyToken }),
  twitch,
};

/** A sender by its name, for tools: to sign, to verify, and to read stored events. */
export function builtInSender(name: string, options: ToolOptions = {}): AnySender | undefined {
  if (name === signals.name) return signals;
  const known = SENDER_NAMES.find((each) => each === name);
  return known === undefined ? undefined : FACTORIES[known](options);
}
