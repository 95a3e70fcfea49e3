import assert from "node:assert/strict";
import { once } from "node:events";
// if nodeTest
import { it } from "node:test";
// end nodeTest
// if vitest
import { it } from "vitest";
// end vitest
import express from "express";
// if sender
import { __factory__ } from "signalbox/senders";
// end sender
import { memoryStore } from "signalbox/stores/memory";
// if signals
import { signalEvent, signedDelivery } from "signalbox/testing";
// end signals
// if sender
import { createManualClock, signedDelivery } from "signalbox/testing";
// end sender
import { __create__ } from "./router.js";

// if signals
const secret = "whsec_of_this_test";
const signed = signedDelivery(signalEvent(), { secret });
const forged = signedDelivery(signalEvent(), { secret: "whsec_of_another" });
// end signals
// if sender
const sender = __factory__(__localOptions__);
const secret = "whsec_dGhlIHNlY3JldCBvZiB0aGlzIHRlc3Qh";
const other = "whsec_dGhlIHNlY3JldCBvZiBhbm90aGVyISEh";
// The time of the event, at which the clock of the test stands.
const now = Date.UTC(2026, 0, 1);
const clock = createManualClock(now);
// prettier-ignore
const headers = __sampleHeaders__;
// prettier-ignore
const event = __sampleBody__;
const signed = signedDelivery(event, { sender, secret, headers, now });
const forged = signedDelivery(event, { sender, secret: other, headers, now });
// end sender

async function listen() {
  let handled = 0;
  const __receiver__ = __create__({
    secrets: secret,
    store: memoryStore(),
    __handler__: () => {
      handled += 1;
    },
    // if sender
    clock,
    // end sender
    logger: false,
  });
  const handedOff = new Promise((resolve) => {
    __receiver__.receiver.on("handedOff", resolve);
  });
  await __receiver__.start();
  const app = express();
  app.use("/webhooks/{{sender}}", __receiver__.router);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" && address.port;
  const url = `http://127.0.0.1:${port}/webhooks/{{sender}}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
    return __receiver__.close();
  };
  return { url, handedOff, close, count: () => handled };
}

void it("a signed {{event}} is handed to {{handler}}, once", async () => {
  const { url, handedOff, close, count } = await listen();
  const { headers, body } = signed;
  const delivery = { method: "POST", headers, body: body.toString() };
  try {
    const first = await fetch(url, delivery);
    assert.equal(first.status, 200);
    await handedOff;
    const second = await fetch(url, delivery);
    assert.equal(second.status, 200);
    assert.equal(count(), 1);
  } finally {
    await close();
  }
});

void it("{{anEvent}} with a wrong signature is refused", async () => {
  const { url, close } = await listen();
  const { headers, body } = forged;
  try {
    const delivery = { method: "POST", headers, body: body.toString() };
    const answer = await fetch(url, delivery);
    assert.equal(answer.status, 401);
  } finally {
    await close();
  }
});
