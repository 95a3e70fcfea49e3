import { expect, test } from "vitest";
import { recordOf } from "../../../../src/kit/senders/records.js";

const order = { type: "orders/paid", payload: '{"id":12,"x":1}' };
const hook = (id: string) => ({ headers: { "x-github-hook-id": id } });

test.each([
  ["stripe", {}, "https://dashboard.stripe.com/events/evt_1"],
  ["stripe", { payload: '{"livemode": false}' }, "https://dashboard.stripe.com/test/events/evt_1"],
  ["stripe", { eventId: "../@x/?<" }, "https://dashboard.stripe.com/events/..%2F%40x%2F%3F%3C"],
  [
    "github",
    { subject: "a/b.c", ...hook("7") },
    "https://github.com/a/b.c/settings/hooks/7?tab=deliveries",
  ],
  ["github", { subject: "a/b?c", ...hook("7") }, ""],
  ["github", { subject: "a/b", ...hook("7/x") }, ""],
  [
    "shopify",
    { subject: "a-b.myshopify.com", ...order },
    "https://admin.shopify.com/store/a-b/orders/12",
  ],
  ["shopify", { subject: "evil.example", ...order }, ""],
  ["shopify", { subject: "a.myshopify.com", ...order, type: "x/../orders" }, ""],
] as const)("an event of %s leads to its own page or nowhere: %o", (name, event, url) => {
  const facts = { eventId: "evt_1", type: "", subject: null, headers: {}, payload: null };
  expect(recordOf(name).eventUrl({ ...facts, ...event })).toBe(url);
});
