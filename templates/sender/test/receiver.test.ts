import { stripe } from "signalbox/senders";
import { signedDelivery, testReceiver } from "signalbox/testing";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../src/app.js";
import { readConfig } from "../src/config.js";

const SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGlzIHRlc3Qh";
const config = readConfig({ STRIPE_WEBHOOK_SECRET: SECRET });
const sender = stripe();
const headers = "{{headers}}";
const event = "{{event}}";

/** The app with an inbox in memory. */
async function serve() {
  const handled: unknown[] = [];
  const onEvent = (each: unknown) => void handled.push(each);
  const { receiver } = await testReceiver({ sender, secrets: config.STRIPE_WEBHOOK_SECRET, onEvent });
  onTestFinished(() => receiver.close());
  const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
  const post = (secret: string) => {
    const signed = signedDelivery(event, { sender, secret, headers });
    return request(createApp(receiver)).post("/webhooks/stripe").set(signed.headers).send(signed.body.toString());
  };
  return { post, handedOff, handled };
}

test("a signed event is accepted, and handled once", async () => {
  const { post, handedOff, handled } = await serve();
  await post(SECRET).expect(200);
  await handedOff;
  await post(SECRET).expect(200);
  expect(handled).toHaveLength(1);
});

test("a forged event is refused", async () => {
  const { post, handled } = await serve();
  await post("whsec_dGhlIHNlY3JldCBvZiBhbm90aGVyISEh").expect(401);
  expect(handled).toEqual([]);
});
