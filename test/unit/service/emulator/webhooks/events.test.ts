import { expect, test } from "vitest";
import type { EmulatorEvent } from "../../../../../src/service/emulator/instance/events.js";
import {
  activeRegistration,
  draft,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
} from "./webhook-world.js";

const NAMES = ["registered", "verified", "published", "refused", "retried", "sent"];

test("each step is reported as it happens, and no query of an address", async () => {
  const events: EmulatorEvent[] = [];
  const world = openWebhooks({
    report: (event) => void events.push(event),
    assumptions: { retrySeconds: "10" },
  });
  let status = 500;
  let answer: object = { error: { code: "inbox_full" } };
  const { url } = await serveEndpoint(
    (_request, response) => void response.writeHead(status).end(JSON.stringify(answer)),
  );
  const { id } = await activeRegistration(world, `${url}/hook?token=hush`);
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  status = 200;
  answer = { duplicate: true };
  await world.scheduler.advanceTo(START + 10_000);
  world.webhooks.registrations.sendTest(id, "Hello");
  await world.scheduler.idle();
  status = 503;
  answer = { error: { code: "a secret and other words" } };
  world.webhooks.registrations.sendTest(id, "Hello");
  await world.scheduler.advanceTo(START + 20_000);

  expect(events.map(({ event }) => event)).toEqual([...NAMES, "refused", "refused"]);
  const on = { registration_id: id, endpoint: `${url}/hook` };
  const about = { signal_type: "traffic_breakout", slug: "larkvoice" };
  const signal = { ...on, ...about, event_id, event_type: "signal.published", redelivery_of: null };
  const inAdvance = { during_advance: true, duration_ms: expect.any(Number) };
  expect(events).toMatchObject([
    { ...on, account_id: 1, signal_types: 1 },
    { ...on, event_type: "webhook.verification", attempt: 1, result: 200 },
    { event_id, ...about, tool_id: 7, registrations: 1 },
    {
      ...signal,
      attempt: 1,
      result: 500,
      answer_code: "inbox_full",
      at: new Date(START).toISOString(),
      next_attempt_at: new Date(START + 10_000).toISOString(),
    },
    { ...signal, ...inAdvance, attempt: 2, result: 200, duplicate: true },
    { ...on, event_type: "webhook.test", attempt: 1, result: 200 },
    { attempt: 1, result: 503, next_attempt_at: new Date(START + 20_000).toISOString() },
    { attempt: 2, result: 503, next_attempt_at: null },
  ]);
  expect(JSON.stringify(events)).not.toMatch(/hush|a secret/);
});

test("a registration that is paused, and one that refuses the time of its signatures, are reported", async () => {
  const events: EmulatorEvent[] = [];
  const world = openWebhooks({
    assumptions: { pauseAfterFailures: 2 },
    machineNow: () => START - HOUR_MS,
    report: (event) => void events.push(event),
  });
  const { url } = await serveEndpoint((_request, response) => void response.writeHead(401).end());
  await activeRegistration(world, url);
  world.webhooks.publish(draft());
  await world.scheduler.advanceTo(START + HOUR_MS);
  const trouble = events.filter(({ event }) => event.startsWith("registration_"));
  expect(trouble).toMatchObject([
    { event: "registration_time_refused", failure_count: 1, last: 401, ahead_seconds: 3600 },
    { event: "registration_paused", failure_count: 2, last: 401 },
  ]);
});
