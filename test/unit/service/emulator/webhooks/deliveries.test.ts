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

/** Seconds after the first attempt, by the default of `retrySeconds`. */
const DUES = [0, 10, 70, 370, 2170, 9370, 30_970, 74_170];

test("retries come when they are due, each with a fresh t over the same bytes", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(500).end(),
  );
  const { signing_secret = "", id } = await activeRegistration(world, url);
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  for (const [index, due] of DUES.entries()) {
    if (index > 0) {
      await world.scheduler.advanceTo(START + due * 1000 - 1);
      expect(signals).toHaveLength(index);
      await world.scheduler.advanceTo(START + due * 1000);
    }
    expect(signals).toHaveLength(index + 1);
  }
  await world.scheduler.advanceTo(START + 72 * HOUR_MS);
  expect(signals).toHaveLength(8);
  expect(new Set(signals.map(({ body }) => body.toString())).size).toBe(1);
  const times = signals.map(({ headers, body }) => {
    const header = String(headers["x-service-signature"]);
    const timestamp = Number(/^t=(\d+),/.exec(header)?.[1]);
    expect(
      verifySignature({ header, body, secrets: [signing_secret], now: timestamp * 1000 }),
    ).toMatchObject({
      ok: true,
    });
    return timestamp - START / 1000;
  });
  expect(times).toEqual(DUES);
  const [delivery] = world.webhooks.deliveries.list({ event_id, limit: 1 });
  expect(delivery).toMatchObject({ state: "failed", next_attempt_at: null });
  expect(delivery?.attempts.map(({ answer }) => answer?.status)).toEqual(DUES.map(() => 500));
  expect(world.webhooks.registrations.read(id)).toMatchObject({
    status: "active",
    failure_count: 8,
  });
});

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

test("what waits for a paused registration goes on when it is resumed, and expires after 24 hours", async () => {
  const world = openWebhooks();
  let status = 500;
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(status).end(),
  );
  const { id } = await activeRegistration(world, url);
  const first = world.webhooks.publish(draft());
  await world.scheduler.idle();
  world.webhooks.registrations.setStatus(id, "paused");
  await world.scheduler.advanceTo(START + 20 * HOUR_MS);
  expect(signals).toHaveLength(1);
  status = 200;
  world.webhooks.registrations.setStatus(id, "active");
  await world.scheduler.idle();
  expect(signals).toHaveLength(2);
  expect(world.webhooks.deliveries.list({ event_id: first.event_id, limit: 1 })[0]?.state).toBe(
    "delivered",
  );

  status = 500;
  const second = world.webhooks.publish(draft());
  await world.scheduler.idle();
  world.webhooks.registrations.setStatus(id, "paused");
  const stateOf = (): string | undefined =>
    world.webhooks.deliveries.list({ event_id: second.event_id, limit: 1 })[0]?.state;
  await world.scheduler.advanceTo(START + 44 * HOUR_MS);
  expect(stateOf()).toBe("waiting");
  await world.scheduler.advanceTo(START + 44 * HOUR_MS + 1);
  expect(stateOf()).toBe("expired");
  world.webhooks.registrations.setStatus(id, "active");
  await world.scheduler.idle();
  expect(signals).toHaveLength(3);
});

test("after a signal that expired while nothing was sent, deliveries are waited for as before", async () => {
  const world = openWebhooks();
  let status = 500;
  const { url } = await serveEndpoint(
    (_request, response) => void response.writeHead(status).end(),
  );
  const { id } = await activeRegistration(world, url);
  world.webhooks.publish(draft());
  world.webhooks.registrations.setStatus(id, "paused");
  await world.scheduler.advanceTo(START + 25 * HOUR_MS);
  world.webhooks.registrations.setStatus(id, "active");
  const deliveryOf = (event_id: string) =>
    world.webhooks.deliveries.list({ event_id, limit: 1 })[0];

  status = 200;
  const taken = world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(deliveryOf(taken.event_id)?.state).toBe("delivered");

  status = 500;
  const refused = world.webhooks.publish(draft());
  await world.scheduler.advanceTo(START + 48 * HOUR_MS);
  const started =
    deliveryOf(refused.event_id)?.attempts.map(({ started_at }) => Date.parse(started_at)) ?? [];
  expect(started.map((time) => (time - START) / 1000 - 25 * 3600)).toEqual(DUES);
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

test("a receiver that asks for time with Retry-After gets it, within limits", async () => {
  const world = openWebhooks({ assumptions: { retrySeconds: "10,10,10,10,10" } });
  const asked = [
    [503, "120"],
    [429, "86400"],
    [503, "5"],
    [500, "120"],
    [503, "Thu, 05 Nov 2026 13:00:00 GMT"],
  ] as const;
  const { url, signals } = await serveEndpoint((_request, response) => {
    const [status, after] = asked[signals.length - 1] ?? [200, ""];
    response
      .writeHead(status, { "Retry-After": after, Date: "Thu, 05 Nov 2026 12:58:20 GMT" })
      .end();
  });
  await activeRegistration(world, url);
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.advanceTo(START + 24 * HOUR_MS);
  const [delivery] = world.webhooks.deliveries.list({ event_id, limit: 1 });
  const times =
    delivery?.attempts.map(({ started_at }) => (Date.parse(started_at) - START) / 1000) ?? [];
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([
    120, 3600, 10, 10, 100,
  ]);
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
