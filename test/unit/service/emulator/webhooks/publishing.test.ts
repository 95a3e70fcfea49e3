import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../../../../src/kit/senders/signals/signal-types.js";
import { parseEvent } from "../../../../../src/kit/senders/signals/parse-event.js";
import {
  activeRegistration,
  draft,
  eventIn,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
} from "./webhook-world.js";

const ACCOUNT_2 = 2;

test("a signal has the document's envelope and data [operations/deliveries]", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  await activeRegistration(world, url);
  const published = world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(published).toMatchObject({ registrations: 1, event_id: `sig_${published.signal_id}_7` });
  const body = signals[0]?.body ?? Buffer.alloc(0);
  expect(parseEvent(body).kind).toBe("known");
  expect(JSON.parse(body.toString())).toEqual({
    id: `sig_${published.signal_id}_7`,
    version: "1",
    type: "signal.published",
    created_at: "2026-11-05T12:00:00.000Z",
    data: {
      signal_id: published.signal_id,
      signal_type: "traffic_breakout",
      product: { id: 7, slug: "larkvoice" },
      title: "Up",
      summary: "Visits rose.",
      change: draft().change,
      observed_at: "2026-11-05T11:00:00.000Z",
      period: { start: "2026-10-01", end: "2026-10-31" },
      published_at: "2026-11-05T12:00:00.000Z",
      evidence_summary: "Two months.",
      url: "https://catalog.example/en/tools/larkvoice",
    },
  });
});

test("it reaches every active registration of followers that chose its type, and nobody else [signal-notes/followed-and-subscribed] [services/signals]", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  world.webhooks.follows.follow(2, ["larkvoice", "mute"]);
  world.webhooks.follows.follow(3, ["mute"]);
  await activeRegistration(world, `${url}?chosen`);
  await activeRegistration(world, `${url}?chinese`, { locale: "zh-CN" });
  await activeRegistration(world, `${url}?other-type`, {
    signal_types: ["new_model", "api_added"],
  });
  await activeRegistration(world, `${url}?account-2`, {
    accountId: 2,
    signal_types: SIGNAL_TYPES.slice(0, 30),
  });
  await activeRegistration(world, `${url}?follows-another`, { accountId: 3 });
  await activeRegistration(world, `${url}?follows-nothing`, { accountId: 4 });
  const paused = await activeRegistration(world, `${url}?paused`);
  world.webhooks.registrations.setStatus(paused.id, "paused");
  const deleted = await activeRegistration(world, `${url}?deleted`);
  world.webhooks.registrations.setStatus(deleted.id, "deleted");

  const { event_id, registrations } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(registrations).toBe(3);
  const reached = world.webhooks.deliveries
    .list({ event_id, limit: 20 })
    .map(({ attempts }) => attempts[0]?.request.url.replace(url, ""));
  expect(new Set(reached)).toEqual(new Set(["?account-2", "?chinese", "?chosen"]));
  const titles = signals.map(
    ({ body }) => (JSON.parse(body.toString()) as { data: { title: string } }).data.title,
  );
  expect(titles.toSorted()).toEqual(["Up", "Up", "上升"]);

  world.webhooks.follows.unfollow(2, "larkvoice");
  expect(world.webhooks.publish(draft()).registrations).toBe(2);
  expect(world.webhooks.publish(draft({ tool_id: 8 })).registrations).toBe(2);
});

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

test("a signal that a person publishes says why it goes to nobody, and one of the month does not", async () => {
  const world = openWebhooks();
  const { url } = await serveEndpoint();
  await activeRegistration(world, url);
  const hintOf = (more: object, publishedAt = START): string | undefined =>
    world.webhooks.publish(draft(more), { publishedAt, isByHand: true }).hint;
  expect(hintOf({})).toBeUndefined();
  expect(hintOf({ tool_id: 8 })).toMatch(/nobody follows it.* follow mute$/);
  expect(hintOf({ signal_type: "new_model" })).toContain("no follower has an active registration");
  expect(hintOf({}, START - 24 * HOUR_MS - 1)).toContain("more than 24 hours old");
  expect(world.webhooks.publish(draft({ tool_id: 8 })).hint).toBeUndefined();
});

test("an account gets 1,000 signals in any 24 hours [limits/signal-events]", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  await activeRegistration(world, url);
  await activeRegistration(world, url);
  world.webhooks.follows.follow(ACCOUNT_2, ["larkvoice"]);
  const none = { registrations: 0, accounts_over_limit: 1 };
  for (let made = 0; made < 400; made++) world.webhooks.publish(draft());
  await world.scheduler.advanceTo(START + HOUR_MS);
  for (let made = 0; made < 600; made++) world.webhooks.publish(draft());
  expect(world.webhooks.publish(draft(), { isByHand: true })).toMatchObject({
    ...none,
    hint: expect.stringContaining("1000 signals"),
  });
  await activeRegistration(world, url, { accountId: ACCOUNT_2 });
  expect(world.webhooks.publish(draft())).toMatchObject({
    registrations: 1,
    accounts_over_limit: 1,
  });
  await world.scheduler.idle();
  // Two registrations of one account get the same event: it counts once.
  expect(new Set(signals.map((signal) => eventIn(signal).id)).size).toBe(1001);
  expect(signals).toHaveLength(2001);

  await world.scheduler.advanceTo(START + 24 * HOUR_MS - 1);
  expect(world.webhooks.publish(draft())).toMatchObject({
    registrations: 1,
    accounts_over_limit: 1,
  });
  await world.scheduler.advanceTo(START + 24 * HOUR_MS);
  for (let made = 0; made < 400; made++)
    expect(world.webhooks.publish(draft()).accounts_over_limit).toBe(0);
  expect(world.webhooks.publish(draft()).accounts_over_limit).toBe(1);
});

test("a product that is followed twice stays followed since the first time, and one that is unknown is refused", () => {
  const { webhooks, base } = openWebhooks();
  base.setNow(START + HOUR_MS);
  webhooks.follows.follow(1, ["larkvoice", "mute"]);
  expect(webhooks.follows.list(1)).toEqual([
    { tool_id: 7, slug: "larkvoice", followed_at: "2026-11-05T12:00:00.000Z" },
    { tool_id: 8, slug: "mute", followed_at: "2026-11-05T13:00:00.000Z" },
  ]);
  const unknown = expect.objectContaining({ code: "PRODUCT_NOT_FOUND" }) as Error;
  expect(() => webhooks.follows.follow(2, ["mute", "none"])).toThrow(unknown);
  expect(webhooks.follows.list(2)).toEqual([]);
  expect(() => webhooks.follows.unfollow(1, "none")).toThrow(unknown);
});
