import { signalEvent, signedDelivery } from "signalbox/testing";
import request from "supertest";
import { expect, test } from "vitest";
import { createOnSignal } from "../src/on-signal.js";
import { createSignalQueue, jobIdOf } from "../src/signal-queue.js";
import { SECRET, serveApp } from "./serve-app.js";
import { isRedisMissing, LOGGER, testQueue } from "./test-queue.js";

const noRedis = await isRedisMissing();

test.skipIf(noRedis)("a signal that arrives is one job, however often it comes (needs Redis)", async () => {
  const queue = testQueue();
  const { app, receiver, handedOff } = await serveApp(createOnSignal(queue));
  const event = signalEvent({ data: { signal_type: "price_increased" } });
  const { headers, body } = signedDelivery(event, { secret: SECRET });
  await request(app).post("/webhooks/signals").set(headers).send(body.toString()).expect(200);
  await handedOff;

  const again = new Promise((resolve) => receiver.on("handedOff", resolve));
  await receiver.inbox.replay([event.id]);
  await again;
  const jobs = await queue.getJobs();
  expect(jobs.map(({ name, data }) => ({ name, data }))).toEqual([
    { name: "price_increased", data: { deliveryKey: `default/${event.id}`, signal: event } },
  ]);
});

test("a job id holds no colon, and different keys have different ids", () => {
  expect(jobIdOf("default/sig_1_2")).toBe("default/sig_1_2");
  const ids = ["a/b:c", "a/b%3Ac", "a/b%253Ac"].map(jobIdOf);
  expect(ids.filter((id) => id.includes(":"))).toEqual([]);
  expect(new Set(ids).size).toBe(3);
});

test("it can be closed where there is no Redis", async () => {
  const queue = createSignalQueue("redis://127.0.0.1:1", LOGGER);
  await queue.close();
});
