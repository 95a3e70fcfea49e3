import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import express from "express";
import { memoryStore } from "signalbox/stores/memory";
import { signalEvent, signedDelivery } from "signalbox/testing";
import { createSignals } from "./router.js";

const secret = "whsec_of_this_test";

async function listen() {
  const signals = createSignals({
    secrets: secret,
    store: memoryStore(),
    onSignal: () => undefined,
    logger: false,
  });
  const handedOff = new Promise((resolve) => {
    signals.receiver.on("handedOff", resolve);
  });
  await signals.start();
  const app = express();
  app.use("/webhooks/signals", signals.router);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" && address.port;
  const url = `http://127.0.0.1:${port}/webhooks/signals`;
  const close = () => {
    server.close();
    server.closeAllConnections();
    return signals.close();
  };
  return { url, handedOff, close };
}

void it("a signed signal is handed to onSignal, once", async () => {
  const { url, handedOff, close } = await listen();
  const { headers, body } = signedDelivery(signalEvent(), { secret });
  const delivery = { method: "POST", headers, body: body.toString() };
  try {
    const first = await fetch(url, delivery);
    assert.equal(await first.text(), '{"received":true}');
    await handedOff;
    const second = await fetch(url, delivery);
    assert.equal(await second.text(), '{"received":true,"duplicate":true}');
  } finally {
    await close();
  }
});

void it("a signal with a wrong signature is refused", async () => {
  const { url, close } = await listen();
  const other = { secret: "whsec_of_another" };
  const { headers, body } = signedDelivery(signalEvent(), other);
  try {
    const delivery = { method: "POST", headers, body: body.toString() };
    const answer = await fetch(url, delivery);
    assert.equal(answer.status, 401);
  } finally {
    await close();
  }
});
