import { expect, test } from "vitest";
import { clientOn } from "../unit/service/client/client-on.js";
import { settleOn, watchClock } from "../unit/service/client/watched-clock.js";
import { startEmulator } from "./start-emulator.js";

/** A client of an emulator, on the clock of both, and a product that the emulator knows. */
async function connect() {
  const { emulator, clock: time, account } = await startEmulator();
  const { key } = await account("pro");
  const clock = watchClock(time);
  const { client } = clientOn(emulator.baseUrl, { apiKey: key }, clock);
  const { items } = await client.rankings({ limit: 1 });
  return { client, clock, slug: items[0]?.slug ?? "" };
}

test("an investigation is started once, waited for, and its report read", async () => {
  const { client, clock, slug } = await connect();
  const input = {
    slug,
    idempotencyKey: "01890a5d-ac96-774b-bcce-b302099a8057",
    confirmUsage: true,
  } as const;
  const { task_id } = await client.startInvestigation(input);
  expect((await client.startInvestigation(input)).task_id).toBe(task_id);
  const polls: number[] = [];
  const waiting = client.waitForInvestigation(task_id, {
    onProgress: () => void polls.push(clock.elapsed()),
  });
  await settleOn(clock, waiting);
  const task = await waiting;
  expect(task).toMatchObject({ status: "succeeded", stage: "complete", poll_after_seconds: null });
  expect(task.report?.conclusion.length).toBeGreaterThan(0);
  expect(polls.length).toBeGreaterThan(2);
  expect(polls).toEqual(polls.map((_, index) => index * 60_000));
});

test("the client waits when the rate is exceeded, and no call is lost", async () => {
  const { client, clock, slug } = await connect();
  const { task_id } = await client.startInvestigation({ slug, confirmUsage: true });
  const reads = Promise.all(Array.from({ length: 125 }, () => client.readInvestigation(task_id)));
  await settleOn(clock, reads);
  expect(await reads).toHaveLength(125);
  expect(clock.elapsed()).toBeGreaterThanOrEqual(60_000);
  expect(clock.pauses.length).toBeGreaterThan(0);
});
