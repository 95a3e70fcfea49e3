import { defineSender } from "./define-sender.js";
import type { Sender } from "./sender.js";

/**
 * Shopify (https://shopify.dev/docs/apps/build/webhooks/subscribe/https). The secret is the client secret of the app. The type is the topic, such
 * as `orders/paid`, and the subject the shop. Shopify waits for 5 seconds and tries 8 times in 4 hours.
 *
 * Not promised: Shopify signs no time, and neither id, topic nor shop, which stand in headers. A captured delivery is a duplicate by its body for as
 * long as its event is remembered, but it can come under another topic or for another shop.
 */
export function shopify<Event = Record<string, unknown>>(): Sender<Record<string, Event>> {
  return defineSender<Event>({
    name: "shopify",
    headers: [
      "x-shopify-topic",
      "x-shopify-shop-domain",
      "x-shopify-event-id",
      "x-shopify-triggered-at",
      "x-shopify-api-version",
    ],
    unsignedId: true,
    signature: { header: "x-shopify-hmac-sha256", encoding: "base64", id: "x-shopify-webhook-id" },
    read: ({ headers }) => ({
      id: headers["x-shopify-webhook-id"],
      type: headers["x-shopify-topic"],
      subject: headers["x-shopify-shop-domain"],
    }),
    sample: (now) => ({
      headers: { "x-shopify-topic": "orders/paid", "x-shopify-shop-domain": "larkvoice.myshopify.com" },
      body: { id: now, total_price: "20.00", currency: "EUR", updated_at: new Date(now).toISOString() },
    }),
  });
}
