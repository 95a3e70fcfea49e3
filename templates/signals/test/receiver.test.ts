import { createReceiver, type Signal } from "signalbox";
import { memoryStore } from "signalbox/stores/memory";
import { signalEvent, signedDelivery } from "signalbox/testing";
import request from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../src/app.js";
import { readConfig } from "../src/config.js";
import { teamFor } from "../src/on-signal.js";

const PATH = "/webhooks/signals";
const SECRET = "whsec_test";

/** The app with an inbox in memory. */
async function serve() {
  const handled: Signal[] = [];
  const onSignal = (signal: Signal) => void handled.push(signal);
  const receiver = createReceiver({
    secrets: SECRET,
    store: memoryStore(),
    onSignal,
    logger: false,
  });
  const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
  await receiver.start();
  onTestFinished(() => receiver.close());
  return { app: createApp(receiver), receiver, handedOff, handled };
}

test("a signed signal is accepted, handled once, and recognised when it comes again", async () => {
  const { app, handedOff, handled } = await serve();
  const event = signalEvent({ data: { signal_type: "price_increased" } });
  const { headers, body } = signedDelivery(event, { secret: SECRET });

  await request(app).post(PATH).set(headers).send(body.toString()).expect(200, { received: true });
  await handedOff;
  await request(app)
    .post(PATH)
    .set(headers)
    .send(body.toString())
    .expect(200, { received: true, duplicate: true });
  expect(handled).toEqual([event]);
});

test("a forged signal is refused", async () => {
  const { app, handled } = await serve();
  const { headers, body } = signedDelivery(signalEvent(), { secret: "whsec_of_another" });
  await request(app).post(PATH).set(headers).send(body.toString()).expect(401);
  expect(handled).toEqual([]);
});

test("it is healthy while it runs, and ready while it accepts deliveries", async () => {
  const { app, receiver } = await serve();
  await request(app).get("/readyz").expect(200, { ok: true, state: "running" });
  await receiver.close();
  await request(app).get("/healthz").expect(200, { ok: true });
  await request(app).get("/readyz").expect(503, { ok: false, state: "closed" });
});

test("each type has a team, also one that is not known yet", () => {
  expect(teamFor("price_increased")).toBe("pricing");
  expect(teamFor("traffic_breakout")).toBe("growth");
  expect(teamFor("a_type_to_come")).toBe("everyone");
});

test("every variable has a default, and a mistake names its variable", () => {
  expect(readConfig({ PORT: "" })).toMatchObject({
    PORT: 3000,
    SECRET_FILE: "signals.secret",
    LOG_LEVEL: "info",
  });
  const read = () => readConfig({ PORT: "70000", LOG_LEVEL: "loud" });
  expect(read).toThrow("PORT must be a whole number from 0 to 65535");
  expect(read).toThrow("LOG_LEVEL must be one of");
});
