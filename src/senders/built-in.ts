import { github } from "./github.js";
import { lemonSqueezy } from "./lemon-squeezy.js";
import { linear } from "./linear.js";
import { meta } from "./meta.js";
import { paddle } from "./paddle.js";
import type { AnySender } from "./sender.js";
import { shopify } from "./shopify.js";
import { signals } from "./signals.js";
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
}

const FACTORIES = new Map<string, (options: ToolOptions) => AnySender>([
  ["standard-webhooks", () => standardWebhooks()],
  ["svix", svix],
  ["stripe", stripe],
  ["github", github],
  ["shopify", shopify],
  ["slack", slack],
  ["paddle", paddle],
  ["lemon-squeezy", lemonSqueezy],
  ["linear", linear],
  ["twilio", ({ publicUrl = "https://receiver.invalid" }) => twilio({ publicUrl })],
  ["zoom", zoom],
  ["meta", ({ verifyToken = "unknown" }) => meta({ verifyToken })],
  ["twitch", twitch],
]);

/** The names of the senders of `signalbox/senders`. */
export const BUILT_IN_SENDERS: readonly string[] = [...FACTORIES.keys()];

/** A sender by its name, for tools: to sign, to verify, and to read stored events. */
export function builtInSender(name: string, options: ToolOptions = {}): AnySender | undefined {
  return name === signals.name ? signals : FACTORIES.get(name)?.(options);
}
