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
