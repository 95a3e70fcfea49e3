import { expect, test, vi } from "vitest";
import { openSendingSpan } from "../../../../../src/service/emulator/control/clock-control.js";
import {
  activeRegistration,
  draft,
  openWebhooks,
  serveEndpoint,
  webhookDatabase,
} from "./webhook-world.js";

test("no query reads all deliveries, attempts, events or signals: each goes by an index", async () => {
  const database = webhookDatabase();
  const prepare = vi.spyOn(database as unknown as { prepare(sql: string): unknown }, "prepare");
  const world = openWebhooks({ database });
  world.webhooks.follows.follow(1, ["larkvoice"]);
  const { url } = await serveEndpoint();
  const { id } = await activeRegistration(world, url);
  const closeSpan = openSendingSpan(database);
  world.webhooks.publish(draft());
  await world.scheduler.idle();
  closeSpan();
  world.webhooks.deliveries.list({ limit: 1 });
  world.webhooks.deliveries.list({ limit: 1, event_id: "sig_1_7" });
  world.webhooks.deliveries.redeliver(1);
  world.webhooks.registrations.setStatus(id, "deleted");

  const queries = [...new Set(prepare.mock.calls.map(([sql]) => sql))].filter((sql) =>
    /\b(delivery|attempt|signal)\b/.test(sql),
  );
  prepare.mockRestore();
  const planOf = (sql: string): string[] =>
    database
      .rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll(/\?|@\w+/g, "1")}`)
      .map(({ detail }) => detail);
  const slow = queries.flatMap((sql) =>
    planOf(sql)
      .filter((step) => /^SCAN (d|e|delivery|attempt|event|signal)\b|TEMP B-TREE/.test(step))
      .map((step) => `${step}: ${sql}`),
  );
  expect(slow).toEqual([]);

  // What is asked at every step of the clock reads nothing that was delivered.
  const ofWaiting = queries.filter((sql) =>
    /state = 'waiting' *(\)|$|AND (expires_at|d\.due_at))/m.test(sql),
  );
  expect(ofWaiting.length).toBeGreaterThan(3);
  expect(
    ofWaiting.filter((sql) => !/delivery_(waiting|expiring)/.test(planOf(sql).join())),
  ).toEqual([]);
});
