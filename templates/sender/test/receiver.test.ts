import { __factory__ } from "signalbox/senders";
import { createManualClock, signedDelivery, testReceiver } from "signalbox/testing";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../src/app.js";
import { readConfig } from "../src/config.js";

const SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGlzIHRlc3Qh";
const config = readConfig({
  __secret__: SECRET,
  __variable__: "{{local}}",
});
const sender = __factory__(__options__);
// The time of the event, at which the clock of the test stands.
const now = Date.UTC(2026, 0, 1);
const headers = __sampleHeaders__;
const event = __sampleBody__;

const sign = (secret: string) => signedDelivery(event, { sender, secret, headers, now });

/** The app with an inbox in memory. */
async function serve() {
  const handled: unknown[] = [];
  const onEvent = (each: unknown) => void handled.push(each);
  const { receiver } = await testReceiver({
    sender,
    secrets: SECRET,
    onEvent,
    clock: createManualClock(now),
  });
  onTestFinished(() => receiver.close());
  const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
  const post = (delivery: ReturnType<typeof sign>) =>
    request(createApp(receiver))
      .post("/webhooks/{{sender}}")
      .set(delivery.headers)
      .send(delivery.body.toString());
  return { post, handedOff, handled };
}

test("a signed event is accepted, and handled once", async () => {
  const { post, handedOff, handled } = await serve();
  const delivery = sign(config.__secret__);
  await post(delivery).expect(200);
  await handedOff;
  await post(delivery).expect(200);
  expect(handled).toHaveLength(1);
});

test("a forged event is refused", async () => {
  const { post, handled } = await serve();
  await post(sign("whsec_dGhlIHNlY3JldCBvZiBhbm90aGVyISEh")).expect(401);
  expect(handled).toEqual([]);
});
