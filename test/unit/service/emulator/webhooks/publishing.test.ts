import { expect, test } from "vitest";
import { LIMITS } from "../../../../../src/service/contract/limits.js";
import {
  activeRegistration,
  draft,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
} from "./webhook-world.js";

const ACCOUNT_2 = 2;

test("a signal of before a registration or a follow does not reach it [register-webhook-notes/followed-and-future]", async () => {
  const world = openWebhooks();
  const { url } = await serveEndpoint();
  await activeRegistration(world, url);
  world.webhooks.follows.follow(ACCOUNT_2, ["larkvoice"]);
  await activeRegistration(world, url, { accountId: ACCOUNT_2 });
  expect(world.webhooks.publish(draft(), { publishedAt: START - 1 }).registrations).toBe(0);
  expect(world.webhooks.publish(draft(), { publishedAt: START }).registrations).toBe(2);
  await world.scheduler.advanceTo(START + HOUR_MS);
  world.webhooks.follows.follow(ACCOUNT_2, ["mute"]);
  const aboutMute = draft({ tool_id: 8 });
  expect(
    world.webhooks.publish(aboutMute, { publishedAt: START + HOUR_MS - 1 }).registrations,
  ).toBe(0);
  expect(world.webhooks.publish(aboutMute).registrations).toBe(1);
  await activeRegistration(world, url);
  expect(world.webhooks.publish(draft(), { publishedAt: START + HOUR_MS - 1 }).registrations).toBe(
    2,
  );
  expect(world.webhooks.publish(draft()).registrations).toBe(3);
});

test("a signal that is 24 hours late goes to nobody [limits/signal-events]", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  await activeRegistration(world, url);
  await world.scheduler.advanceTo(START + 24 * HOUR_MS);
  expect(world.webhooks.publish(draft(), { publishedAt: START }).registrations).toBe(1);
  await world.scheduler.advanceTo(START + 24 * HOUR_MS + 1);
  expect(world.webhooks.publish(draft(), { publishedAt: START }).registrations).toBe(0);
  await world.scheduler.idle();
  expect(signals).toHaveLength(1);
});

test("an account gets 1,000 signals in any 24 hours [limits/signal-events]", async () => {
  expect(LIMITS.signalsPerDay).toBe(1000);
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
  world.webhooks.follows.follow(ACCOUNT_2, ["larkvoice"]);
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
  await activeRegistration(world, url, { accountId: ACCOUNT_2 });
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
