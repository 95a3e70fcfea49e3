import { expect, test } from "vitest";
import type { z } from "zod";
import { SIGNAL_TYPES } from "../../../../../src/kit/senders/signals/signal-types.js";
import { parseEvent } from "../../../../../src/kit/senders/signals/parse-event.js";
import type { ControlOperation } from "../../../../../src/service/emulator/control/control-operation.js";
import { ServiceError } from "../../../../../src/service/emulator/operations/service-error.js";
import { deliveriesControl } from "../../../../../src/service/emulator/webhooks/control/deliveries-control.js";
import { webhooksControl } from "../../../../../src/service/emulator/webhooks/control/webhooks-control.js";
import { serveRecorder } from "../../../../cli/serve-requests.js";
import {
  activeRegistration,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
  type WebhookWorld,
} from "./webhook-world.js";

function controlOf(world: WebhookWorld) {
  const assertAccount = (accountId: number): void => {
    if (accountId > 9)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no account of this id.");
  };
  return {
    ...webhooksControl(world, world.webhooks, assertAccount),
    ...deliveriesControl(world.webhooks),
  };
}

/** As the control API calls it: what its schema makes of the input. */
function call<Input extends z.ZodType, Result>(
  operation: Omit<ControlOperation, "input" | "run"> & {
    input: Input;
    run(input: z.output<Input>): Result;
  },
  input: unknown,
): Result {
  return operation.run(operation.input.parse(input));
}

// That the texts are right in both languages is in `derive-signals.test.ts`.
test("a signal of any type can be published by its name alone", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const { url, signals } = await serveEndpoint();
  // A registration has at most 30 types.
  for (const half of [SIGNAL_TYPES.slice(0, 20), SIGNAL_TYPES.slice(20)]) {
    await activeRegistration(world, url, { signal_types: half });
  }
  for (const signal_type of SIGNAL_TYPES) {
    expect(call(control.publishSignal, { signal_type, slug: "larkvoice" })).toMatchObject({
      registrations: 1,
    });
  }
  await world.scheduler.idle();
  expect(signals).toHaveLength(SIGNAL_TYPES.length);
  expect(signals.filter(({ body }) => parseEvent(body).kind !== "known")).toEqual([]);
});

test("what is given for a signal is said instead, and the texts follow its figures", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const { url, signals } = await serveEndpoint();
  await activeRegistration(world, url, { signal_types: ["traffic_breakout"] });
  const change = {
    direction: "up",
    magnitude: 2,
    before: { value: 1000, unit: "visits" },
    after: { value: 3000, unit: "visits" },
  };
  await world.scheduler.advanceTo(START + 2 * HOUR_MS);
  call(control.publishSignal, {
    signal_type: "traffic_breakout",
    slug: "larkvoice",
    title: "Look",
    change,
    period: { start: "2026-09-01", end: "2026-09-30" },
    published_at: "2026-11-05T13:00:00Z",
  });
  await world.scheduler.idle();
  expect(JSON.parse(signals[0]?.body.toString() ?? "")).toMatchObject({
    created_at: "2026-11-05T13:00:00.000Z",
    data: {
      title: "Look",
      summary: expect.stringMatching(/1,000.+3,000/) as string,
      change,
      period: { start: "2026-09-01", end: "2026-09-30" },
      observed_at: "2026-11-05T13:00:00.000Z",
      published_at: "2026-11-05T13:00:00.000Z",
    },
  });
});

test("a signal about an unknown product, or of the future, is refused, and nothing is published", () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const publish = (more: object): unknown =>
    call(control.publishSignal, { signal_type: "new_model", slug: "larkvoice", ...more });
  expect(() => publish({ slug: "none" })).toThrow(
    expect.objectContaining({ code: "PRODUCT_NOT_FOUND" }),
  );
  expect(() => publish({ published_at: "2026-11-05T12:00:00.001Z" })).toThrow("in the future");
  expect(() => publish({ signal_type: "unheard_of" })).toThrow();
  expect(world.database.prepare("SELECT count(*) FROM signal").pluck().get()).toBe(0);
});

test("follows and registrations are managed, of accounts that there are", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const { url, signals } = await serveEndpoint();
  const unknown = expect.objectContaining({ code: "RESOURCE_NOT_FOUND" }) as Error;
  expect(() => call(control.listFollows, { account_id: 99 })).toThrow(unknown);
  expect(() => call(control.follow, { account_id: 99, slugs: ["mute"] })).toThrow(unknown);
  expect(
    call(control.follow, { account_id: 2, slugs: ["mute", "larkvoice"] }).items.map(
      ({ slug }) => slug,
    ),
  ).toEqual(["larkvoice", "mute"]);
  expect(call(control.unfollow, { account_id: 2, slug: "larkvoice" })).toMatchObject({
    items: [{ slug: "mute" }],
  });

  const { id, signing_secret } = await activeRegistration(world, url, { accountId: 2 });
  const registration_id = id;
  expect(call(control.listRegistrations, { account_id: 1 })).toEqual({ items: [] });
  expect(call(control.listRegistrations, {})).toMatchObject({ items: [{ id, status: "active" }] });
  expect(call(control.pauseRegistration, { registration_id }).status).toBe("paused");
  expect(call(control.resumeRegistration, { registration_id }).status).toBe("active");
  expect(call(control.rotateSecret, { registration_id }).signing_secret).not.toBe(signing_secret);
  const { delivery_id } = call(control.sendTestEvent, { registration_id });
  await world.scheduler.idle();
  expect(signals).toHaveLength(1);
  expect(call(control.readDelivery, { delivery_id })).toMatchObject({ state: "delivered" });
  expect(call(control.redeliver, { delivery_id }).delivery_id).toBeGreaterThan(delivery_id);
  await world.scheduler.idle();
  expect(call(control.listDeliveries, { registration_id, state: "delivered" }).items).toHaveLength(
    3,
  );
  expect(() => call(control.verifyRegistration, { registration_id })).toThrow("pending");
  expect(call(control.deleteRegistration, { registration_id }).status).toBe("deleted");
  expect(call(control.readRegistration, { registration_id }).status).toBe("deleted");
});

test("a registration is edited; another endpoint is verified before it gets signals", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const first = await serveEndpoint();
  const { id: registration_id } = await activeRegistration(world, first.url, {
    signal_types: ["new_model"],
  });
  const types = { registration_id, locale: "zh-CN", signal_types: ["price_increased"] };
  const edited = {
    status: "active",
    url: first.url,
    locale: "zh-CN",
    signal_types: ["price_increased"],
  };
  expect(call(control.updateRegistration, types)).toMatchObject(edited);
  expect(() =>
    call(control.updateRegistration, { registration_id, url: "http://192.0.2.1/" }),
  ).toThrow("HTTPS");
  expect(() => call(control.updateRegistration, { registration_id, signal_types: [] })).toThrow();

  const second = await serveEndpoint();
  call(control.pauseRegistration, { registration_id });
  expect(() => call(control.updateRegistration, { registration_id, url: second.url })).toThrow(
    "resume it first",
  );
  call(control.resumeRegistration, { registration_id });
  const moved = { ...edited, url: second.url };
  expect(call(control.updateRegistration, { registration_id, url: second.url })).toMatchObject({
    ...moved,
    status: "pending",
  });
  const publish = () =>
    call(control.publishSignal, { signal_type: "price_increased", slug: "larkvoice" });
  expect(publish()).toMatchObject({ registrations: 0 });
  await world.scheduler.idle();
  expect(call(control.readRegistration, { registration_id })).toMatchObject(moved);
  expect(publish()).toMatchObject({ registrations: 1 });
  await world.scheduler.idle();
  expect([first.signals.length, second.signals.length]).toEqual([0, 1]);
});

test("a signal that waits for its retry is not sent to an endpoint that is not verified", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const first = await serveEndpoint((_request, response) => void response.writeHead(500).end());
  const { id: registration_id } = await activeRegistration(world, first.url, {
    signal_types: ["new_model"],
  });
  call(control.publishSignal, { signal_type: "new_model", slug: "larkvoice" });
  await world.scheduler.idle();
  let isReady = false;
  const second = await serveRecorder((request, response) => {
    const { challenge = "" } = (
      JSON.parse(request.body.toString()) as { data: { challenge?: string } }
    ).data;
    response.end(JSON.stringify(isReady ? { challenge } : {}));
  });
  call(control.updateRegistration, { registration_id, url: second.url });
  await world.scheduler.advanceTo(START + HOUR_MS);
  const typesSent = (): unknown[] =>
    second.requests.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type);
  expect(new Set(typesSent())).toEqual(new Set(["webhook.verification"]));
  isReady = true;
  call(control.verifyRegistration, { registration_id });
  await world.scheduler.advanceTo(START + 3 * HOUR_MS);
  expect(typesSent().at(-1)).toBe("signal.published");
});

test("faults are set for a registration that there is, listed and cleared", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const { url } = await serveEndpoint();
  const { id: registration_id } = await activeRegistration(world, url);
  const status = { registration_id, kind: "status", value: 500, times: 2 };
  const reset = { registration_id, kind: "reset", value: null, times: null };
  expect(call(control.setDeliveryFault, status)).toEqual({ items: [status] });
  call(control.setDeliveryFault, { registration_id, kind: "reset" });
  expect(call(control.listDeliveryFaults, {})).toEqual({ items: [reset, status] });
  expect(call(control.setDeliveryFault, { ...status, value: 404 }).items).toEqual([
    reset,
    { ...status, value: 404 },
  ]);
  expect(call(control.clearDeliveryFaults, { registration_id })).toEqual({ items: [] });
  expect(() => call(control.setDeliveryFault, { ...status, registration_id: "wh_none" })).toThrow(
    "no webhook",
  );
  expect(() => call(control.setDeliveryFault, { ...status, value: 42 })).toThrow();
  expect(() =>
    call(control.setDeliveryFault, { registration_id, kind: "reset", value: 1 }),
  ).toThrow();
});
