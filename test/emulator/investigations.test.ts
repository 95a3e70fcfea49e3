import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmulator, refusal, type RunningEmulator } from "./start-emulator.js";

const START = "/research/promotion-investigations";

let running: RunningEmulator;
let slugs: string[];
beforeAll(async () => {
  running = await openEmulator();
  const { key } = await running.account("pro");
  const { body } = await running.ask("/research/rankings?limit=5", { key });
  slugs = (body["items"] as { slug: string }[]).map(({ slug }) => slug);
});
afterAll(() => running.emulator.close());

const wish = (slug: string, idempotency_key: string = randomUUID()) => ({ slug, idempotency_key, confirm_usage: true });

test("fifty simultaneous starts with one key make one task [task-states/same-key-same-inputs]", async () => {
  const { key, accountId } = await running.account("pro");
  const body = wish(slugs[0] ?? "");
  const told = await Promise.all(Array.from({ length: 50 }, () => running.ask(START, { key, body })));
  expect(new Set(told.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(told.map((each) => each.body["task_id"])).size).toBe(1);
  const { items } = await running.emulator.control.listInvestigations({ account_id: accountId });
  expect(items).toEqual([expect.objectContaining({ account_id: accountId, slug: slugs[0], locale: "en" })]);
});

test("a slug that names nothing gets 404, and takes nothing of the quota", async () => {
  const { key } = await running.account("developer");
  const told = await running.ask(START, { key, body: wish("no-such-thing-here") });
  expect(refusal(told)).toEqual({ status: 404, code: "PRODUCT_NOT_FOUND" });
  expect(told.headers.get("x-quota-remaining")).toBe("50");
});
