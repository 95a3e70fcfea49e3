import { expect, test } from "vitest";
import { serveRecorder } from "../../../../cli/serve-requests.js";
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

test("after a restart registrations and pending retries go on, and what was on its way is sent again", async () => {
  const database = webhookDatabase();
  const before = openWebhooks({ database });
  before.webhooks.follows.follow(1, ["larkvoice"]);
  let isUp = false;
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(isUp ? 200 : 500).end(),
  );
  const silent = await serveSilence();
  const { id } = await activeRegistration(before, url);
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

test("what is on its way to a registration that is deleted is not sent again", async () => {
  const world = openWebhooks();
  const answers: (() => void)[] = [];
  const { url } = await serveRecorder(
    (_request, response) => void answers.push(() => response.writeHead(500).end()),
  );
  const { id } = world.webhooks.register(1, { url, signal_types: ["new_model"], locale: "en" });
  const settled = world.scheduler.idle();
  await until(() => answers.length === 1);
  world.webhooks.registrations.setStatus(id, "deleted");
  answers[0]?.();
  await settled;
  expect(world.webhooks.deliveries.list({ limit: 9 })).toMatchObject([{ state: "cancelled" }]);
});

test("an account gets 1,000 signals in any 24 hours [limits/signal-events]", async () => {
  const sent: string[] = [];
  const world = openWebhooks({
    send({ body }) {
      const { id, data } = JSON.parse(body.toString()) as { id: string; data: object };
      sent.push(id);
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(data)) });
    },
  });
  for (let signal_id = 1; signal_id <= 980; signal_id++)
    world.database.put("account_signal", { account_id: 1, signal_id, sent_at: START + HOUR_MS });
  const url = "http://localhost/";
  await activeRegistration(world, url);
  await activeRegistration(world, url);
  world.webhooks.follows.follow(2, ["larkvoice"]);
  const publish = (times: number): unknown[] =>
    Array.from({ length: times }, () => world.webhooks.publish(draft()).accounts_over_limit);
  publish(8);
  await world.scheduler.advanceTo(START + HOUR_MS);
  publish(12);
  expect(world.webhooks.publish(draft(), { isByHand: true })).toMatchObject({
    registrations: 0,
    accounts_over_limit: 1,
    hint: expect.stringContaining("1000 signals") as string,
  });
  await activeRegistration(world, url, { accountId: 2 });
  const toTheOtherAlone = { registrations: 1, accounts_over_limit: 1 };
  expect(world.webhooks.publish(draft())).toMatchObject(toTheOtherAlone);
  await world.scheduler.idle();
  // Two registrations of one account get the same event: it counts once.
  const signals = sent.filter((id) => id.startsWith("sig_"));
  expect([signals.length, new Set(signals).size]).toEqual([41, 21]);

  await world.scheduler.advanceTo(START + 24 * HOUR_MS - 1);
  expect(world.webhooks.publish(draft())).toMatchObject(toTheOtherAlone);
  await world.scheduler.advanceTo(START + 24 * HOUR_MS);
  expect(publish(9)).toEqual([...Array<number>(8).fill(0), 1]);
});
