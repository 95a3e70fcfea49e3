import { expect, test } from "vitest";
import type { EmulatorEvent } from "../../../../../src/service/emulator/instance/events.js";
import { until } from "../../../until.js";
import {
  activeRegistration,
  draft,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
} from "./webhook-world.js";

test("a retry after a part of a millisecond is at a whole one", async () => {
  const world = openWebhooks({ assumptions: { retrySeconds: "10.0006" } });
  const { url } = await serveEndpoint((_request, response) => void response.writeHead(503).end());
  await activeRegistration(world, url);
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  const [delivery] = world.webhooks.deliveries.list({ event_id, limit: 1 });
  expect(delivery?.next_attempt_at).toBe(new Date(START + 10_001).toISOString());
});

test("an attempt that cannot be written down is told and made again after a restart, and others go on", async () => {
  const failures: EmulatorEvent[] = [];
  const world = openWebhooks({
    report: (event) => void (event.event === "failed" && failures.push(event)),
  });
  const { url, signals } = await serveEndpoint();
  await activeRegistration(world, url);
  world.database.exec(
    "CREATE TRIGGER full BEFORE INSERT ON attempt BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
  );
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(signals).toHaveLength(1);
  expect(failures).toHaveLength(1);
  world.database.exec("DROP TRIGGER full");
  const other = world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(world.webhooks.deliveries.list({ event_id: other.event_id, limit: 1 })).toMatchObject([
    { state: "delivered" },
  ]);
  await world.webhooks.close();
  const again = openWebhooks({ database: world.database });
  await again.scheduler.idle();
  expect(again.webhooks.deliveries.list({ event_id, limit: 1 })).toMatchObject([
    { state: "delivered" },
  ]);
});

test("what waited for a slot until it was 24 hours old is not sent, also when the machine slept meanwhile", async () => {
  const world = openWebhooks({ assumptions: { deliveriesInFlight: 1 } });
  const answers: (() => void)[] = [];
  const { url, signals } = await serveEndpoint(
    (_request, response) => void answers.push(() => void response.end()),
  );
  await activeRegistration(world, url);
  world.webhooks.publish(draft());
  const second = world.webhooks.publish(draft());
  const idle = world.scheduler.idle();
  await until(() => answers.length === 1);
  world.base.setNow(START + 25 * HOUR_MS);
  answers[0]?.();
  await idle;
  expect(signals).toHaveLength(1);
  expect(world.webhooks.deliveries.list({ event_id: second.event_id, limit: 1 })).toMatchObject([
    { state: "expired" },
  ]);
});

test("of many that are to be held back one waits at a time, and no more go out at once than otherwise", async () => {
  const world = openWebhooks();
  let open = 0;
  let most = 0;
  const { url, signals } = await serveEndpoint((_request, response) => {
    most = Math.max(most, ++open);
    response.on("close", () => open--);
    setImmediate(() => response.end());
  });
  const { id } = await activeRegistration(world, url);
  world.webhooks.faults.set({ registration_id: id, kind: "reorder", value: 50, times: null });
  for (let count = 0; count < 20; count++) world.webhooks.registrations.sendTest(id, String(count));
  await world.scheduler.idle();
  expect(signals).toHaveLength(20);
  // The one that was held back is beside those that overtook it.
  expect(most).toBeLessThanOrEqual(world.assumptions.deliveriesInFlight + 1);
});

test.each([
  ["paused", "waiting"],
  ["deleted", "cancelled"],
] as const)("what is held back while its registration is %s is not sent", async (status, state) => {
  const world = openWebhooks();
  const { url, signals } = await serveEndpoint();
  const { id } = await activeRegistration(world, url);
  world.webhooks.faults.set({ registration_id: id, kind: "latency", value: 50, times: 1 });
  const { event_id } = world.webhooks.publish(draft());
  const idle = world.scheduler.idle();
  expect(world.webhooks.deliveries.list({ event_id, limit: 1 })).toMatchObject([
    { state: "sending" },
  ]);
  world.webhooks.registrations.setStatus(id, status);
  await idle;
  expect(signals).toEqual([]);
  expect(world.webhooks.deliveries.list({ event_id, limit: 1 })).toMatchObject([
    { state, attempts: [] },
  ]);
});
