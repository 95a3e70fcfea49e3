import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, it } from "node:test";
import express from "express";
import { memoryStore } from "signalbox/stores/memory";
import { signalEvent, signedDelivery } from "signalbox/testing";
import { createSignals } from "./router.js";

type Signals = ReturnType<typeof createSignals>;
type Delivery = ReturnType<typeof signedDelivery>;

const secret = "whsec_of_this_test";

let received: string[];
let signals: Signals;
let server: Server;

beforeEach(async () => {
  received = [];
  signals = createSignals({
    secrets: secret,
    store: memoryStore(),
    onSignal: (signal) => received.push(signal.id),
    logger: false,
  });
  await signals.start();
  const app = express();
  app.use("/webhooks/signals", signals.router);
  server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await signals.close();
});

function post({ headers, body }: Delivery) {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/webhooks/signals`;
  return fetch(url, { method: "POST", headers, body: body.toString() });
}

void it("a signed signal is handed to onSignal, once", async () => {
  const handedOff = new Promise((resolve) => {
    signals.receiver.on("handedOff", resolve);
  });
  const event = signalEvent({ data: { signal_type: "price_increased" } });
  const delivery = signedDelivery(event, { secret });

  const first = await post(delivery);
  assert.equal(first.status, 200);
  assert.equal(await first.text(), '{"received":true}');
  await handedOff;

  const second = await post(delivery);
  assert.equal(second.status, 200);
  assert.equal(await second.text(), '{"received":true,"duplicate":true}');
  assert.deepEqual(received, [event.id]);
});

void it("a signal with a wrong signature is refused", async () => {
  const forged = signedDelivery(signalEvent(), { secret: "whsec_of_another" });
  const answer = await post(forged);
  assert.equal(answer.status, 401);
  assert.deepEqual(received, []);
});
