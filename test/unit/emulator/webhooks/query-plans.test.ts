import { expect, test, vi } from "vitest";
import { createOpenSendingSpan } from "../../../../src/emulator/webhooks/deliveries/sending-span.js";
import { activeRegistration, draft, openWebhooks, serveEndpoint, webhookDatabase } from "./webhook-world.js";

test("no query reads all deliveries, attempts, events or signals: each goes by an index", async () => {
  const database = webhookDatabase();
  const prepare = vi.spyOn(database, "prepare");
  const world = openWebhooks({ database });
  world.webhooks.follows.follow(1, ["larkvoice"]);
  const { url } = await serveEndpoint();
  await activeRegistration(world, url);
  const closeSpan = createOpenSendingSpan(world)();
  world.webhooks.publish(draft());
  await world.scheduler.idle();
  closeSpan();
  world.webhooks.deliveries.list({ limit: 1 });
  world.webhooks.deliveries.list({ limit: 1, event_id: "sig_1_7" });

  const queries = [...new Set(prepare.mock.calls.map(([sql]) => sql))].filter((sql) =>
    /\b(delivery|attempt|signal)\b/.test(sql),
  );
  prepare.mockRestore();
  const planOf = (sql: string): string[] =>
    database
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll(/\?|@\w+/g, "1")}`)
      .all()
      .map(({ detail }) => detail);
  const slow = queries.flatMap((sql) =>
    planOf(sql)
      .filter((step) => /^SCAN (d|e|delivery|attempt|event|signal)\b|TEMP B-TREE/.test(step))
      .map((step) => `${step}: ${sql}`),
  );
  expect(slow).toEqual([]);

  // What is asked at every step of the clock reads nothing that was delivered.
  const asked = (part: string): string =>
    queries
      .filter((sql) => sql.includes(part))
      .map(planOf)
      .join();
  expect(asked("min(due_at)")).toMatch(/SEARCH d USING (COVERING )?INDEX delivery_waiting \(registration_id=\?\)/);
  expect(asked("d.due_at <= @now")).toMatch(
    /SEARCH d USING INDEX delivery_waiting \(registration_id=\? AND due_at<\?\)/,
  );
  expect(asked("min(expires_at)")).toMatch(/SEARCH delivery USING (COVERING )?INDEX delivery_expiring/);
  expect(asked("AND expires_at < ?")).toMatch(
    /SEARCH delivery USING (COVERING )?INDEX delivery_expiring \(expires_at<\?\)/,
  );
});
