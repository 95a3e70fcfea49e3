import { expect, onTestFinished, test } from "vitest";
import { createReceiver, type Signal } from "../../src/kit/index.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { listen } from "../cli/serve-requests.js";
import { draft, openWebhooks, START } from "../unit/service/emulator/webhooks/webhook-world.js";
import { until } from "../unit/until.js";

test("our receiver answers the handshake, also when it knows the secret only later, and takes each signal once [event-types/webhook.verification]", async () => {
  const world = openWebhooks({ assumptions: { deliveryTimeoutMs: 400 } });
  const secrets: string[] = [];
  const signals: Signal[] = [];
  const told: string[] = [];
  const receiver = createReceiver({
    secrets: () => secrets,
    store: memoryStore(),
    onSignal: (signal) => void signals.push(signal),
    logger: false,
    // It goes by the service's clock, as a real one does by the world's.
    clock: {
      now: world.clock.now,
      elapsed: () => performance.now(),
      setTimeout: world.base.setTimeout,
    },
  });
  for (const name of ["accepted", "duplicate", "verified"] as const)
    receiver.on(name, () => void told.push(name));
  await receiver.start();
  onTestFinished(() => receiver.close({ graceMs: 0 }));
  const url = await listen(nodeHandler(receiver));
  const { id, signing_secret = "" } = world.webhooks.register(1, {
    url,
    signal_types: ["traffic_breakout"],
    locale: "en",
  });
  await world.scheduler.idle();
  // The receiver waits for a secret that it does not have yet, until the service gives up and asks
  // again later.
  expect(world.webhooks.registrations.read(id)).toMatchObject({
    status: "pending",
    failure_count: 1,
  });
  secrets.push(signing_secret);
  // All retries: on a busy machine the first ones may time out.
  await world.scheduler.advanceTo(START + 24 * 3_600_000);
  expect(told.at(-1)).toBe("verified");
  expect(world.webhooks.registrations.read(id)).toMatchObject({
    status: "active",
    failure_count: 0,
  });

  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  const [delivery] = world.webhooks.deliveries.list({ event_id, limit: 1 });
  expect(delivery).toMatchObject({
    state: "delivered",
    attempts: [{ answer: { status: 200, body: '{"received":true}' } }],
  });
  world.webhooks.deliveries.redeliver(delivery?.delivery_id ?? 0);
  world.webhooks.faults.set({ registration_id: id, kind: "duplicate", value: null, times: 1 });
  await world.scheduler.idle();
  expect(told.slice(-3)).toEqual(["accepted", "duplicate", "duplicate"]);
  const again = world.webhooks.deliveries.list({ event_id, limit: 1 })[0];
  expect(again?.attempts.map(({ answer }) => answer?.body)).toEqual(
    Array(2).fill('{"received":true,"duplicate":true}'),
  );
  await until(() => signals.length > 0);
  expect(signals.map((signal) => signal.id)).toEqual([event_id]);
});
