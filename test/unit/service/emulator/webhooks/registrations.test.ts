import { expect, test } from "vitest";
import { webhookRegistrationSchema } from "../../../../../src/service/contract/webhook-registration.js";
import { verifySignature } from "../../../../../src/kit/senders/signature/verify.js";
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

const BODY = { url: "https://hooks.example/signals", signal_types: ["traffic_breakout"] };

test("a new registration is pending, and its answer has the document's fields and the secret [webhook-states/new-registration]", () => {
  const { webhooks } = openWebhooks({ send: () => Promise.resolve({ failure: "timed_out" }) });
  const registration = webhooks.register(ACCOUNT, BODY);
  expect(webhookRegistrationSchema.parse(registration)).toEqual({
    id: expect.stringMatching(/^wh_[0-9a-f-]{36}$/) as string,
    url: BODY.url,
    status: "pending",
    locale: "en",
    signal_types: ["traffic_breakout"],
    failure_count: 0,
    created_at: "2026-11-05T12:00:00.000Z",
    updated_at: "2026-11-05T12:00:00.000Z",
    signing_secret: expect.stringMatching(/^whsec_[\w-]{43}$/) as string,
  });
  expect(webhooks.registrations.read(registration.id)).not.toHaveProperty("signing_secret");
  expect(webhooks.registrations.list({})[0]).not.toHaveProperty("signing_secret");
});

test("the verification is sent after the answer, and what answers its challenge is active", async () => {
  const { webhooks, scheduler } = openWebhooks();
  const { url, requests } = await serveEndpoint();
  const { id, signing_secret = "" } = webhooks.register(ACCOUNT, { ...BODY, url });
  expect(requests).toEqual([]);
  await scheduler.idle();
  expect(requests).toHaveLength(1);
  const [request] = requests;
  expect(request && eventIn(request)).toMatchObject({ version: "1", type: "webhook.verification" });
  expect(request?.headers["content-type"]).toBe("application/json");
  const header = String(request?.headers["x-service-signature"]);
  const body = request?.body ?? Buffer.alloc(0);
  expect(verifySignature({ header, body, secrets: [signing_secret], now: START })).toMatchObject({
    ok: true,
  });
  expect(webhooks.registrations.read(id)).toMatchObject({ status: "active", failure_count: 0 });
});

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
  expect(webhooks.registrations.list({ accountId: ACCOUNT })).toHaveLength(10);
  webhooks.register(2, BODY);
  await scheduler.advanceTo(START + 12 * HOUR_MS - 1);
  expect(() => webhooks.register(ACCOUNT, BODY)).toThrow(
    expect.objectContaining({ code: "REGISTRATIONS_EXCEEDED" }),
  );
  await scheduler.advanceTo(START + 12 * HOUR_MS);
  webhooks.register(ACCOUNT, BODY);
});

test("pending, active, paused, active, deleted: nothing else", async () => {
  const world = openWebhooks();
  const { webhooks } = world;
  const { url } = await serveEndpoint();
  const { id } = webhooks.register(ACCOUNT, { ...BODY, url });
  const { setStatus, read } = webhooks.registrations;
  const refused = expect.objectContaining({ code: "STATE_CONFLICT", status: 409 }) as Error;
  expect(() => setStatus(id, "paused")).toThrow(refused);
  expect(() => setStatus(id, "active")).toThrow(refused);
  await world.scheduler.idle();
  expect(() => setStatus(id, "active")).toThrow(refused);
  expect(setStatus(id, "paused").status).toBe("paused");
  expect(setStatus(id, "active").status).toBe("active");
  expect(setStatus(id, "deleted").status).toBe("deleted");
  expect(read(id).status).toBe("deleted");
  const gone = expect.objectContaining({ code: "RESOURCE_NOT_FOUND" }) as Error;
  expect(() => setStatus(id, "active")).toThrow(gone);
  expect(() => setStatus(id, "deleted")).toThrow(gone);
  expect(() => webhooks.registrations.rotateSecret(id)).toThrow(gone);
  expect(() => webhooks.registrations.sendTest(id, "Hello")).toThrow(gone);
  expect(() => read("wh_none")).toThrow(gone);
});

test("after a rotation the new secret signs, also what waited", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint(
    (_request, response) => void response.writeHead(500).end(),
  );
  const { id, signing_secret: first = "" } = await activeRegistration(world, url);
  world.webhooks.publish(draft());
  await world.scheduler.idle();
  const rotated = world.webhooks.registrations.rotateSecret(id);
  const { signing_secret: second = "" } = rotated;
  expect(second).not.toBe(first);
  expect(webhookRegistrationSchema.parse(rotated)).toMatchObject({ id, status: "active" });
  await world.scheduler.advanceTo(START + 10_000);
  const fits = signals.map(({ body, headers }) =>
    [first, second].map(
      (secret) =>
        verifySignature({
          header: String(headers["x-service-signature"]),
          body,
          secrets: [secret],
          now: START,
        }).ok,
    ),
  );
  expect(fits).toEqual([
    [true, false],
    [false, true],
  ]);
});

test("a test event goes to an active registration, whatever it subscribed", async () => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  const { id } = await activeRegistration(world, url);
  const deliveryId = world.webhooks.registrations.sendTest(id, "Hello there");
  await world.scheduler.idle();
  expect(signals.map(eventIn)).toMatchObject([
    { type: "webhook.test", data: { message: "Hello there" } },
  ]);
  expect(world.webhooks.deliveries.read(deliveryId)).toMatchObject({
    state: "delivered",
    event_type: "webhook.test",
  });
});

test("a verification can be sent again, and what is left of the first is cancelled when it is answered", async () => {
  const world = openWebhooks();
  let isUp = false;
  const { url } = await serveRecorder((request, response) => {
    const { challenge } = eventIn(request).data;
    response.writeHead(isUp ? 200 : 503).end(JSON.stringify({ challenge }));
  });
  const { id } = world.webhooks.register(ACCOUNT, { ...BODY, url });
  await world.scheduler.idle();
  isUp = true;
  world.webhooks.registrations.verifyAgain(id);
  await world.scheduler.idle();
  expect(world.webhooks.registrations.read(id).status).toBe("active");
  expect(
    world.webhooks.deliveries.list({ registration_id: id, limit: 9 }).map(({ state }) => state),
  ).toEqual(["delivered", "cancelled"]);
  expect(() => world.webhooks.registrations.verifyAgain(id)).toThrow("pending");
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
