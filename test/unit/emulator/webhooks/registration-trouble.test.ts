import { expect, test } from "vitest";
import { activeRegistration, draft, HOUR_MS, openWebhooks, serveEndpoint, START } from "./webhook-world.js";

test("who cannot be told of one trouble is told of the next, and what fails is told as a failure", async () => {
  const told: string[] = [];
  const failures: unknown[] = [];
  const world = openWebhooks({
    assumptions: { pauseAfterFailures: 1 },
    machineNow: () => START - HOUR_MS,
    onTrouble: ({ kind }) => {
      told.push(kind);
      throw new Error(kind);
    },
    onFailure: (error) => void failures.push(error),
  });
  const { url } = await serveEndpoint((_request, response) => void response.writeHead(401).end());
  await activeRegistration(world, url);
  const { event_id } = world.webhooks.publish(draft());
  await world.scheduler.idle();
  expect(told).toEqual(["time_refused", "paused"]);
  expect(failures).toEqual([new Error("time_refused"), new Error("paused")]);
  const [delivery] = world.webhooks.deliveries.list({ event_id, limit: 1 });
  expect(delivery).toMatchObject({ state: "waiting", attempts: [{ answer: { status: 401 } }] });
});
