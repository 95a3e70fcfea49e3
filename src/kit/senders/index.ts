export { defineSender, type SenderDefinition } from "./engine/define-sender.js";
export { github, type GithubOptions, type GithubPayload } from "./github.js";
export { gitlab, type GitlabOptions, type GitlabPayload } from "./gitlab.js";
export { lemonSqueezy, type LemonSqueezyEvent } from "./lemon-squeezy.js";
export type { SenderOptions } from "./known-sender.js";
export { linear, type LinearEvent } from "./linear.js";
export { meta, type MetaEvent, type MetaOptions } from "./meta.js";
export { paddle, type PaddleEvent } from "./paddle.js";
export type {
  MessagePart,
  PublicUrl,
  SignatureEncoding,
  SignatureList,
  SignatureScheme,
  SignatureTime,
  SignedRequest,
} from "./engine/scheme.js";
export type { BasicScheme, TokenScheme } from "./engine/secret-header.js";
export type {
  EventsByType,
  HandshakeAnswer,
  ReadableDelivery,
  ReadEvent,
  SampleDelivery,
  Sender,
  SenderHandshake,
  SenderLimits,
} from "./engine/sender.js";
export { shopify, type ShopifyOptions } from "./shopify.js";
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
export type { VerifiedRequest, VerifyDelivery } from "./engine/verify-function.js";
export { zoom, type ZoomEvent } from "./zoom.js";
