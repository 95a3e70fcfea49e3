import { expect, test } from "vitest";
import type { RegistrationBody } from "../../../../../src/service/emulator/webhooks/registrations/create-registrations.js";
import { serveRecorder } from "../../../../cli/serve-requests.js";
import { until } from "../../../until.js";
import {
  ACCOUNT,
  activeRegistration,
  draft,
  eventIn,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
} from "./webhook-world.js";

const BODY: RegistrationBody = {
  url: "https://hooks.example/signals",
  signal_types: ["traffic_breakout"],
  locale: "en",
};

test.each([
  ["another challenge", 200, '{"challenge":"other"}'],
  ["the challenge alone", 200, null],
  ["an error", 500, '{"challenge":"{{challenge}}"}'],
])(
  "a verification that is answered with %s leaves it pending, and is sent again",
  async (_what, status, answer) => {
    const { webhooks, scheduler, clock } = openWebhooks({ assumptions: { pauseAfterFailures: 1 } });
    const { url, requests } = await serveRecorder((request, response) => {
      const { challenge = "" } = eventIn(request).data;
      response
        .writeHead(status, { Location: "/elsewhere" })
        .end(answer?.replace("{{challenge}}", challenge) ?? challenge);
    });
    const { id } = webhooks.register(ACCOUNT, { ...BODY, url });
    await scheduler.idle();
    expect(webhooks.registrations.read(id)).toMatchObject({ status: "pending", failure_count: 1 });
    await scheduler.advanceTo(clock.now() + 10_000);
    expect(requests).toHaveLength(2);
    expect(webhooks.registrations.read(id)).toMatchObject({ status: "pending", failure_count: 2 });
  },
);

test("ten registrations a day, the eleventh is refused until midnight [limits/webhook-registrations] [register-webhook-notes/ten-a-day]", async () => {
  const { webhooks, scheduler } = openWebhooks({
    send: () => Promise.resolve({ failure: "unreachable" }),
  });
  for (let made = 0; made < 10; made++) webhooks.register(ACCOUNT, BODY);
  expect(() => webhooks.register(ACCOUNT, BODY)).toThrow(
    expect.objectContaining({ code: "REGISTRATIONS_EXCEEDED" }),
  );
  expect(webhooks.registrations.list(ACCOUNT)).toHaveLength(10);
  webhooks.register(2, BODY);
  await scheduler.advanceTo(START + 12 * HOUR_MS - 1);
  expect(() => webhooks.register(ACCOUNT, BODY)).toThrow(
    expect.objectContaining({ code: "REGISTRATIONS_EXCEEDED" }),
  );
  await scheduler.advanceTo(START + 12 * HOUR_MS);
  webhooks.register(ACCOUNT, BODY);
});

test("what waits for a deleted registration is cancelled, also what was on its way", async () => {
  const world = openWebhooks();
  const { url } = await serveEndpoint((_request, response) => void response.writeHead(500).end());
  const { id } = await activeRegistration(world, url);
  const answers: (() => void)[] = [];
  const slow = await serveRecorder(
    (_request, response) => void answers.push(() => response.writeHead(500).end()),
  );
  world.webhooks.publish(draft());
  await world.scheduler.idle();
  world.webhooks.registrations.setStatus(id, "deleted");

  const other = world.webhooks.register(ACCOUNT, { ...BODY, url: slow.url });
  const settled = world.scheduler.idle();
  await until(() => answers.length === 1);
  world.webhooks.registrations.setStatus(other.id, "deleted");
  answers[0]?.();
  await settled;
  const states = world.webhooks.deliveries
    .list({ limit: 9 })
    .map(({ event_type, state }) => [event_type, state]);
  expect(states).toEqual([
    ["webhook.verification", "cancelled"],
    ["signal.published", "cancelled"],
    ["webhook.verification", "delivered"],
  ]);
});

test("a signal that waits for its retry is not sent to an endpoint that is not verified", async () => {
  const world = openWebhooks();
  const { registrations } = world.webhooks;
  const first = await serveEndpoint((_request, response) => void response.writeHead(500).end());
  const { id } = await activeRegistration(world, first.url);
  world.webhooks.publish(draft());
  await world.scheduler.idle();
  let isReady = false;
  const second = await serveRecorder((request, response) => {
    const { challenge } = eventIn(request).data;
    response.end(JSON.stringify(isReady ? { challenge } : {}));
  });
  registrations.update(id, { url: second.url });
  await world.scheduler.advanceTo(START + HOUR_MS);
  const typesSent = (): string[] => second.requests.map((request) => eventIn(request).type);
  expect(new Set(typesSent())).toEqual(new Set(["webhook.verification"]));
  isReady = true;
  registrations.verifyAgain(id);
  await world.scheduler.advanceTo(START + 3 * HOUR_MS);
  expect(typesSent().at(-1)).toBe("signal.published");
});
