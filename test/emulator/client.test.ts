import { afterAll, beforeAll, expect, test } from "vitest";
import type { Tier } from "../../src/api/access.js";
import type { Client } from "../../src/client/index.js";
import { createEmulator, type Emulator } from "../../src/emulator/instance/create-emulator.js";
import { createManualClock } from "../../src/testing/index.js";
import { clientOn, failureOf } from "../unit/client/client-on.js";
import { settleOn, watchClock, type WatchedClock } from "../unit/client/watched-clock.js";

interface Together {
  emulator: Emulator;
  client: Client;
  /** The clock of both. */
  clock: WatchedClock;
}

const time = createManualClock(Date.parse("2026-11-21T12:00:00Z"));
const service = createEmulator({ port: 0, clock: time });
beforeAll(() => service.start());
afterAll(() => service.close());

/** A client of the service, with an account of its own, on the service's clock. */
async function connect(tier: Tier = "pro"): Promise<Together> {
  const { account_id } = await service.control.createAccount({ tier });
  const { key } = await service.control.createKey({ account_id });
  const clock = watchClock(time);
  const { client } = clientOn(service.baseUrl, { apiKey: key }, clock);
  return { emulator: service, client, clock };
}

/** What a call gives, on a clock that goes on meanwhile. */
async function settled<Result>({ clock }: Together, call: Promise<Result>): Promise<Result> {
  await settleOn(clock, call);
  return call;
}

const start = ({ client }: Together, slug: string, idempotencyKey?: string) =>
  client.startInvestigation({ slug, idempotencyKey, confirmUsage: true });

test("an investigation is started once, waited for, and its report read", async () => {
  const together = await connect();
  const { client, clock } = together;
  const slug = await anySlug(together);
  const idempotencyKey = "01890a5d-ac96-774b-bcce-b302099a8057";
  const { task_id } = await start(together, slug, idempotencyKey);
  expect((await start(together, slug, idempotencyKey)).task_id).toBe(task_id);
  const polls: number[] = [];
  const onProgress = () => void polls.push(clock.elapsed());
  const task = await settled(together, client.waitForInvestigation(task_id, { onProgress }));
  expect(task).toMatchObject({ status: "succeeded", stage: "complete", poll_after_seconds: null });
  expect(task.report?.conclusion.length).toBeGreaterThan(0);
  expect(polls.length).toBeGreaterThan(2);
  expect(polls[0]).toBe(0);
  for (const [index, at] of polls.slice(1).entries()) {
    expect(at - (polls[index] ?? 0)).toBeGreaterThanOrEqual(60_000);
  }
});

test("the client waits when the rate is exceeded, and no call is lost", async () => {
  const together = await connect();
  const { client, clock } = together;
  const { task_id } = await start(together, await anySlug(together));
  const before = clock.elapsed();
  const reads = Promise.all(Array.from({ length: 125 }, () => client.readInvestigation(task_id)));
  expect(await settled(together, reads)).toHaveLength(125);
  expect(clock.elapsed() - before).toBeGreaterThanOrEqual(60_000);
  expect(clock.pauses.length).toBeGreaterThan(0);
});

test("an exhausted quota is an error with its reset, and free calls go on", async () => {
  const together = await connect("developer");
  const { client } = together;
  for (let call = 0; call < 50; call++) await client.searchDemand();
  expect(client.quota()).toMatchObject({ limit: 50, remaining: 0, policy: "50;month" });
  const error = await failureOf(client.rankings());
  expect(error).toMatchObject({ kind: "quota", status: 429, code: "PRO_API_QUOTA_EXHAUSTED", attempts: 1 });
  expect(error.resetAt).toEqual(new Date("2026-12-01T00:00:00Z"));
  expect(error.details).toEqual({ limit: 50, remaining: 0 });
  const missing = client.readInvestigation("task_00000000-0000-4000-8000-000000000000");
  expect(await failureOf(missing)).toMatchObject({ status: 404 });
});

/** A product that the service knows. */
async function anySlug({ client }: Together): Promise<string> {
  const { items } = await client.rankings({ limit: 1 });
  const [first] = items;
  if (first === undefined) throw new Error("there is no product");
  return first.slug;
}
