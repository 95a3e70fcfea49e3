import { repeatedBodyOptions } from "./engine/check-definition.js";
import { matching } from "./engine/define-sender.js";
import type { Sender } from "./engine/sender.js";
import { checkSenderOptions, knownSender, type SenderOptions } from "./known-sender.js";

/** The options of `shopify`. */
export interface ShopifyOptions<Event = Record<string, unknown>> extends SenderOptions<Event> {
  /**
   * What becomes of the topic, the shop and the bytes of a stored event under a new id. `drop`: it
   * is a duplicate, for those whose events never have equal bytes; then a captured delivery under a
   * new id is one too.
   *
   * @default "keep"
   */
  repeatedBody?: "keep" | "drop";
}

/**
 * `orders/paid`, `customer.tags_added`, and of the Events `Product`: another one would be a made-up
 * topic, which nobody has signed.
 */
const TOPIC =
  /^(?:[a-z0-9_]{1,60}(?:\.[a-z0-9_]{1,60})?\/[a-z0-9_]{1,60}|customer\.[a-z_]{1,60}|[A-Z][A-Za-z0-9]{0,60})$/;
const ID = /^[\w-]{1,100}$/;
const SHOP = /^[A-Za-z0-9.-]{1,200}$/;

/**
 * Shopify: webhooks (https://shopify.dev/docs/apps/build/webhooks/subscribe/https) and Events
 * (https://shopify.dev/docs/apps/build/events), whose headers begin without `X-`. The secret is the
 * client secret of the app. The type is the topic, such as `orders/paid` or `Product`, the subtype
 * the action of an Event, and the subject the shop. Shopify waits for 5 seconds and tries 8 times
 * in 4 hours.
 *
 * Not promised: Shopify signs no time, and neither id, topic nor shop, which stand in headers. A
 * captured delivery can come again under new ids, topics and shops, any number of times: each is a
 * new event, with `handoff.possiblyRepeated` if its bytes came lately.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`
 */
export function shopify<Event = Record<string, unknown>>(
  options: ShopifyOptions<Event> = {},
): Sender<Record<string, Event>> {
  const { repeatedBody, subject } = checkSenderOptions("shopify", repeatedBodyOptions, options);
  return knownSender({
    subject,
    name: "shopify",
    headers: [
      ...WEBHOOKS.map((name) => `x-shopify-${name}`),
      ...EVENTS.map((name) => `shopify-${name}`),
    ],
    unsignedId: true,
    repeatedBody,
    signature: {
      header: ["x-shopify-hmac-sha256", "shopify-hmac-sha256"],
      encoding: "base64",
      id: ["x-shopify-webhook-id", "shopify-webhook-id"],
    },
    read({ headers }) {
      const sent = (name: string): string | undefined =>
        headers[`x-shopify-${name}`] ?? headers[`shopify-${name}`];
      const shop = sent("shop-domain");
      return {
        id: matching(ID, sent("webhook-id")),
        // Without a type it is quarantined, as is one for a shop that has no name of Shopify's.
        type: shop === undefined || SHOP.test(shop) ? matching(TOPIC, sent("topic")) : undefined,
        subtype: headers["shopify-action"],
        subject: shop,
      };
    },
  });
}

/** What their headers are called, after `X-Shopify-` and `Shopify-`. */
const WEBHOOKS = [
  "topic",
  "sub-topic",
  "shop-domain",
  "event-id",
  "triggered-at",
  "api-version",
  "name",
];
const EVENTS = [
  "topic",
  "action",
  "handle",
  "shop-domain",
  "event-id",
  "resource-id",
  "triggered-at",
  "api-version",
];
