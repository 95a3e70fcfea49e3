export { defineSender, type SenderDefinition } from "./define-sender.js";
export { github, type GithubPayload } from "./github.js";
export { lemonSqueezy, type LemonSqueezyEvent } from "./lemon-squeezy.js";
export { linear, type LinearEvent } from "./linear.js";
export { meta, type MetaEvent, type MetaOptions } from "./meta.js";
export { paddle, type PaddleEvent } from "./paddle.js";
export type { MessagePart, SignatureList, SignatureScheme, SignatureTime, SignedRequest } from "./scheme.js";
export type {
  EventsByType,
  HandshakeAnswer,
  ReadableDelivery,
  ReadEvent,
  SampleDelivery,
  Sender,
  SenderHandshake,
  SenderLimits,
} from "./sender.js";
export { shopify } from "./shopify.js";
export { slack, type SlackEvent } from "./slack.js";
export {
  standardWebhooks,
  svix,
  type StandardWebhooksEvent,
  type StandardWebhooksOptions,
} from "./standard-webhooks.js";
export { stripe, type StripeEvent } from "./stripe.js";
export { twilio, type TwilioEvent, type TwilioOptions } from "./twilio.js";
export { twitch, type TwitchEvent } from "./twitch.js";
export { zoom, type ZoomEvent } from "./zoom.js";
