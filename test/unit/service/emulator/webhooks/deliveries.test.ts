import { expect, test } from "vitest";
import { verifySignature } from "../../../../../src/kit/senders/signature/verify.js";
import { until } from "../../../until.js";
import {
  activeRegistration,
  draft,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  serveSilence,
  START,
  webhookDatabase,
} from "./webhook-world.js";

test("nothing is sent after 24 hours, also when more retries are planned [signal-notes/no-backfill]", async () => {
  const world = openWebhooks({
    assumptions: { retrySeconds: Array(30).fill(3600).join(","), pauseAfterFailures: 100 },
  });
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(503).end(),
  );
  await activeRegistration(world, url);
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.advanceTo(START + 100 * HOUR_MS);
  expect(signals).toHaveLength(25);
  const [delivery] = world.webhooks.deliveries.list({ event_id, limit: 1 });
  expect(delivery).toMatchObject({ state: "failed", expires_at: "2026-11-06T12:00:00.000Z" });
  expect(delivery?.attempts.at(-1)?.started_at).toBe("2026-11-06T12:00:00.000Z");
});

test("the time of a signal's 24 hours begins when it was published", async () => {
  const world = openWebhooks({ assumptions: { retrySeconds: "10800,10800" } });
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(500).end(),
  );
  await activeRegistration(world, url);
  await world.scheduler.advanceTo(START + 23 * HOUR_MS);
  world.webhooks.publish(draft(), { publishedAt: START });
  await world.scheduler.advanceTo(START + 100 * HOUR_MS);
  expect(signals).toHaveLength(1);
});

test("twenty failures in a row pause a registration, and a success forgives", async () => {
  const world = openWebhooks({ assumptions: { retrySeconds: "" } });
  let status = 500;
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(status).end(),
  );
  const { id } = await activeRegistration(world, url);
  const publishOne = async (answer: number): Promise<unknown> => {
    status = answer;
    world.webhooks.publish(draft());
    await world.scheduler.idle();
    const { failure_count, status: now } = world.webhooks.registrations.read(id);
    return [failure_count, now];
  };
  for (let failed = 1; failed <= 19; failed++)
    expect(await publishOne(500)).toEqual([failed, "active"]);
  expect(await publishOne(204)).toEqual([0, "active"]);
  for (let failed = 1; failed <= 19; failed++)
    expect(await publishOne(404)).toEqual([failed, "active"]);
  expect(await publishOne(301)).toEqual([20, "paused"]);
  expect(signals).toHaveLength(40);
  expect(world.webhooks.publish(draft()).registrations).toBe(0);
  expect(world.webhooks.registrations.setStatus(id, "active").failure_count).toBe(0);
});

test("after a restart registrations and pending retries go on, and what was on its way is sent again", async () => {
  const database = webhookDatabase();
  const before = openWebhooks({ database });
  before.webhooks.follows.follow(1, ["larkvoice"]);
  let isUp = false;
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(isUp ? 200 : 500).end(),
  );
  const silent = await serveSilence();
  const { id, signing_secret } = await activeRegistration(before, url);
  before.webhooks.publish(draft());
  await before.scheduler.idle();
  before.webhooks.register(1, { url: silent.url, signal_types: ["new_model"], locale: "en" });
  const running = before.scheduler.idle();
  await until(() => silent.requests.length === 1);
  await before.webhooks.close();
  await running;
  await before.scheduler.close();
  expect(signals).toHaveLength(1);

  isUp = true;
  const after = openWebhooks({
    database,
    startMs: START + 9000,
    assumptions: { deliveryTimeoutMs: 1000 },
  });
  expect(after.webhooks.registrations.read(id)).toMatchObject({
    status: "active",
    failure_count: 1,
  });
  await after.scheduler.idle();
  expect([signals.length, silent.requests.length]).toEqual([1, 2]);
  await after.scheduler.advanceTo(START + 10_000);
  expect(signals).toHaveLength(2);
  const [, second] = signals;
  const header = String(second?.headers["x-service-signature"]);
  expect(
    verifySignature({
      header,
      body: second?.body ?? Buffer.alloc(0),
      secrets: [signing_secret ?? ""],
      now: START + 10_000,
    }),
  ).toMatchObject({ ok: true });
  const attempts = after.webhooks.deliveries
    .list({ limit: 9 })
    .map(({ attempts: made, state }) => [state, made.length]);
  // The request that was cut off by the end is not counted.
  expect(attempts).toEqual([
    ["waiting", 1],
    ["delivered", 2],
    ["delivered", 1],
  ]);
});

test("while the clock is advanced, a receiver that timed out has a short time-out until it answers", async () => {
  const timeouts: unknown[] = [];
  const world = openWebhooks({
    send({ timeoutMs }) {
      timeouts.push(timeoutMs);
      const answer = { status: 500, headers: {}, body: Buffer.alloc(0) };
      return Promise.resolve(timeouts.length === 4 ? answer : { failure: "timed_out" });
    },
  });
  const { id } = world.webhooks.register(1, {
    url: "http://localhost/",
    signal_types: ["traffic_breakout"],
    locale: "en",
  });
  await world.scheduler.advanceTo(START + 48 * HOUR_MS);
  expect(timeouts).toEqual([undefined, 500, 500, 500, undefined, 500, 500, 500]);
  expect(world.webhooks.registrations.read(id)).toMatchObject({
    status: "pending",
    failure_count: 8,
  });
});
