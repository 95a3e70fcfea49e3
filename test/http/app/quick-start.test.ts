import { join } from "node:path";
import express from "express";
import supertest from "supertest";
import { expect, test } from "vitest";
import { createReceiver, type Signal } from "../../../src/index.js";
import { expressHandler } from "../../../src/receiver/adapters/express-handler.js";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../../src/testing/index.js";
import { tempFolder } from "../../unit/temp-folder.js";

test("the quick start of the README receives a signed delivery once [receiving/deduplicate]", async () => {
  const handedOff: [Signal, string][] = [];
  const receiver = createReceiver({
    secrets: "whsec_test",
    store: sqliteStore(join(tempFolder(), "signals.db")),
    onSignal: async (signal, handoff) => {
      handedOff.push([signal, handoff.deliveryKey]);
    },
    logger: false,
  });
  await receiver.start();
  const app = express();
  app.use("/webhooks/signals", expressHandler(receiver));
  app.use(express.json());

  const event = signalEvent();
  const post = () => {
    const { headers, body } = signedDelivery(event, { secret: "whsec_test" });
    return supertest(app).post("/webhooks/signals").set(headers).send(body.toString());
  };
  const done = new Promise((resolve) => receiver.on("handedOff", resolve));
  const first = await post();
  expect([first.status, first.body]).toEqual([200, { received: true }]);
  const second = await post();
  expect([second.status, second.body]).toEqual([200, { received: true, duplicate: true }]);
  await done;
  expect(handedOff).toEqual([[event, `default/${event.id}`]]);
  expect(await receiver.inbox.stats()).toMatchObject({ done: 1, total: 1 });
  await receiver.close();
});
