import { afterAll, beforeAll, expect, test } from "vitest";
import type { OperationName } from "../../src/service/contract/operations.js";
import {
  openEmulator,
  refusal,
  startEmulator,
  type Asked,
  type RunningEmulator,
} from "./start-emulator.js";

let running: RunningEmulator;
beforeAll(async () => {
  running = await openEmulator();
});
afterAll(() => running.emulator.close());

const UUID = "3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c0001";
const STARTS = "/research/promotion-investigations";
const NO_TASK = `${STARTS}/task_00000000-0000-4000-8000-000000000000`;

/** A right call of each protected operation, but for who makes it. */
const CALLS: Record<
  Exclude<OperationName, "productProfile">,
  readonly [path: string, how: Asked]
> = {
  startInvestigation: [
    STARTS,
    { body: { slug: "no-such-product", idempotency_key: UUID, confirm_usage: true } },
  ],
  readInvestigation: [NO_TASK, {}],
  registerWebhook: [
    "/alerts/webhooks",
    { body: { url: "https://example.com/hook", signal_types: ["new_model"] } },
  ],
  searchDemand: ["/research/search-demand?limit=1", {}],
  rankings: ["/research/rankings?limit=1", {}],
};

test("a key is shown once and kept hashed [authentication/bearer-keys]", async () => {
  const { key, accountId } = await running.account("pro");
  const { items } = await running.emulator.control.listKeys({ account_id: accountId });
  expect(JSON.stringify(items)).not.toContain(key);
  expect(key.startsWith(items[0]?.hint ?? "?")).toBe(true);
  expect((await running.emulator.control.snapshot()).includes(key.slice(12))).toBe(false);
});

const QUOTA_HEADERS = ["x-quota-limit", "x-quota-remaining", "x-quota-policy", "x-quota-reset"];

test("refusals come in order: key, rate, scope, fault, parameters, quota, and then the operation's own", async () => {
  const own = await startEmulator();
  const { control } = own.emulator;
  const { key, accountId } = await own.account("developer");
  const bare = await control.createKey({ account_id: accountId, scopes: [] });
  const [path, right] = CALLS.startInvestigation;
  const codeOf = async (given: string, how: Asked) =>
    refusal(await own.ask(path, { ...how, key: given })).code;
  const wrong = { body: {} };
  while ((await own.ask("/research/rankings?limit=1", { key })).status === 200);
  await control.setOperationFault({
    operation: "startInvestigation",
    code: "DATA_UNAVAILABLE",
    calls: 1,
  });

  expect(await codeOf(bare.key, wrong)).toBe("SCOPE_INSUFFICIENT");
  while ((await codeOf(bare.key, wrong)) === "SCOPE_INSUFFICIENT");
  expect(await codeOf(bare.key, wrong)).toBe("RATE_LIMITED");
  await control.revokeKey({ key_id: bare.key_id });
  expect(await codeOf(bare.key, wrong)).toBe("API_KEY_REVOKED");

  expect(await codeOf(key, wrong)).toBe("DATA_UNAVAILABLE");
  expect(await codeOf(key, wrong)).toBe("INVALID_BODY");
  expect(await codeOf(key, right)).toBe("PRO_API_QUOTA_EXHAUSTED");
  await control.advance({ months: 1 });
  expect(await codeOf(key, right)).toBe("PRODUCT_NOT_FOUND");
});

test("the quota headers are on every answer to a caller of Developer Access who is known, also 403, the rate's 429 and 503", async () => {
  const own = await startEmulator();
  const { key } = await own.account("developer", { scopes: ["research:read"] });
  const told = async (path: string, how: Asked = {}) => {
    const { status, headers } = await own.ask(path, { key, ...how });
    return [status, ...QUOTA_HEADERS.map((name) => headers.get(name))];
  };
  const quota = ["50", "50", "50;month", "2026-11-01T00:00:00.000Z"];
  expect(await told("/alerts/webhooks", { body: {} })).toEqual([403, ...quota]);
  await own.emulator.control.setOperationFault({
    operation: "rankings",
    code: "DATA_UNAVAILABLE",
    calls: 1,
  });
  expect(await told("/research/rankings")).toEqual([503, ...quota]);
  while ((await own.ask(NO_TASK, { key })).status !== 429);
  expect(await told(NO_TASK)).toEqual([429, ...quota]);
  // Nobody is known by a key that is none.
  expect(await told(NO_TASK, { key: `${key}x` })).toEqual([401, null, null, null, null]);
});
