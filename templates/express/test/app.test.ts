import type { Signal } from "signalbox";
import { signalEvent, signedDelivery } from "signalbox/testing";
import request from "supertest";
import { expect, test } from "vitest";
import { SECRET, serveApp } from "./serve-app.js";

const PATH = "/webhooks/signals";

test("a signed signal is taken, handed off once, and recognised when it comes again", async () => {
  const handled: Signal[] = [];
  const { app, handedOff } = await serveApp((signal) => void handled.push(signal));
  const event = signalEvent({ data: { signal_type: "price_increased" } });
  const { headers, body } = signedDelivery(event, { secret: SECRET });

  await request(app).post(PATH).set(headers).send(body.toString()).expect(200, { received: true });
  await handedOff;
  await request(app).post(PATH).set(headers).send(body.toString()).expect(200, { received: true, duplicate: true });
  expect(handled).toEqual([event]);
});

test("a forged signal is refused", async () => {
  const { app } = await serveApp(() => expect.unreachable());
  const { headers, body } = signedDelivery(signalEvent(), { secret: "whsec_of_somebody_else" });
  const answer = await request(app).post(PATH).set(headers).send(body.toString()).expect(401);
  expect(answer.body).toMatchObject({ error: { code: "signature_mismatch" } });
});

test("it is healthy while it lives, and ready while it takes deliveries", async () => {
  const { app, receiver } = await serveApp(() => undefined);
  await request(app).get("/healthz").expect(200, { ok: true });
  await request(app).get("/readyz").expect(200, { ok: true, state: "running" });
  await receiver.close();
  await request(app).get("/healthz").expect(200, { ok: true });
  await request(app).get("/readyz").expect(503, { ok: false, state: "closed" });
});

test("anything else is not found, and a broken body is answered without a stack", async () => {
  const { app } = await serveApp(() => undefined);
  await request(app).get("/").expect(404);
  const answer = await request(app).post("/").set("Content-Type", "application/json").send("{").expect(400);
  expect(answer.body).toEqual({ error: { code: "bad_request", message: "The request could not be answered." } });
});
