import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATIONS, type OperationName } from "../../src/service/contract/operations.js";
import { errorEnvelopeSchema } from "../../src/service/contract/error-envelope.js";
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
const PROTECTED = (Object.keys(CALLS) as (keyof typeof CALLS)[]).map(
  (name) => [name, ...CALLS[name]] as const,
);

test.each(PROTECTED)(
  "%s wants a key: 401 without, with a wrong or a revoked one",
  async (_name, path, how) => {
    const { key } = await running.account("pro");
    const said = async (headers: Record<string, string>) => {
      const told = await running.ask(path, { ...how, headers });
      expect(errorEnvelopeSchema.safeParse(told.body).success).toBe(true);
      expect(told.headers.get("www-authenticate")).toBe("Bearer");
      return refusal(told);
    };
    expect(await said({})).toEqual({ status: 401, code: "API_KEY_MISSING" });
    for (const authorization of [
      `Basic ${key}`,
      "Bearer",
      `Bearer ${key} x`,
      `Bearer ${key.slice(0, -1)}`,
      key,
    ]) {
      expect((await said({ authorization })).status, authorization).toBe(401);
    }
    const found = (await running.emulator.control.listAccounts()).items.at(-1);
    const [listed] = (
      await running.emulator.control.listKeys({ account_id: found?.account_id ?? 0 })
    ).items;
    await running.emulator.control.revokeKey({ key_id: listed?.key_id ?? "" });
    expect(await said({ authorization: `Bearer ${key}` })).toEqual({
      status: 401,
      code: "API_KEY_REVOKED",
    });
  },
);

test.each(PROTECTED)(
  "%s wants its scope: 403 with all others [authentication/scopes]",
  async (name, path, how) => {
    const { scope } = OPERATIONS[name];
    const others = (
      ["research:execute", "research:read", "webhooks:manage", "mcp:tools"] as const
    ).filter((each) => each !== scope);
    const { key } = await running.account("pro", { scopes: others });
    expect(refusal(await running.ask(path, { ...how, key }))).toEqual({
      status: 403,
      code: "SCOPE_INSUFFICIENT",
    });
    const { key: none } = await running.account("pro", { scopes: [] });
    expect(refusal(await running.ask(path, { ...how, key: none })).status).toBe(403);
  },
);

test.each([
  ["searchDemand", "api.access"],
  ["searchDemand", "search_demand.full_database"],
  ["rankings", "api.access"],
  ["rankings", "market.rankings"],
  ["rankings", "market.advanced_filters"],
  ["startInvestigation", "api.access"],
  ["readInvestigation", "api.access"],
  ["registerWebhook", "api.access"],
] as const)(
  "%s wants the entitlement %s: 403 without it [authentication/entitlements]",
  async (name, missing) => {
    const [path, how] = CALLS[name];
    const all = [
      "api.access",
      "search_demand.full_database",
      "market.rankings",
      "market.advanced_filters",
    ] as const;
    const { key, accountId } = await running.account("pro", {
      entitlements: all.filter((each) => each !== missing),
    });
    expect(refusal(await running.ask(path, { ...how, key }))).toEqual({
      status: 403,
      code: "ACCESS_INSUFFICIENT",
    });
    await running.emulator.control.updateAccount({ account_id: accountId, entitlements: [...all] });
    expect((await running.ask(path, { ...how, key })).status).not.toBe(403);
  },
);

test("Developer Access stands in for the entitlements of research, but not for api.access [authentication/entitlements]", async () => {
  const { key } = await running.account("developer", { entitlements: ["api.access"] });
  expect((await running.ask("/research/rankings?limit=1", { key })).status).toBe(200);
  expect((await running.ask("/research/search-demand?limit=1", { key })).status).toBe(200);
  const { key: without } = await running.account("developer", { entitlements: [] });
  expect((await running.ask("/research/rankings?limit=1", { key: without })).status).toBe(403);
});

test("an extra dimension of the rankings wants the account's feature", async () => {
  const entitlements = [
    "api.access",
    "market.rankings",
    "market.advanced_filters",
    "market.sort.ai",
  ] as const;
  const { key } = await running.account("pro", { entitlements });
  const statusOf = async (sort: string) =>
    (await running.ask(`/research/rankings?limit=1&sort=${sort}`, { key })).status;
  expect([await statusOf("growth"), await statusOf("ai"), await statusOf("paid")]).toEqual([
    200, 200, 403,
  ]);
});

test("a public profile needs no key, and looks at none; in another language than the service's it is English [authentication/public-needs-no-key] [services/public-catalog]", async () => {
  const path = `/tools/${await anySlug()}`;
  for (const [locale, resolved] of [
    ["zh-CN", "zh-CN"],
    ["a-text-of-more-than-20", "en"],
  ]) {
    const { status, body } = await running.ask(`${path}?locale=${locale}`, {
      headers: { authorization: "nonsense" },
    });
    expect([status, body["resolved_locale"]]).toEqual([200, resolved]);
  }
  expect(refusal(await running.ask("/tools/no-such-product"))).toEqual({
    status: 404,
    code: "PRODUCT_NOT_FOUND",
  });
});

test("a key is shown once and kept hashed [authentication/bearer-keys]", async () => {
  const { key, accountId } = await running.account("pro");
  const { items } = await running.emulator.control.listKeys({ account_id: accountId });
  expect(JSON.stringify(items)).not.toContain(key);
  expect(key.startsWith(items[0]?.hint ?? "?")).toBe(true);
  expect((await running.emulator.control.snapshot()).includes(key.slice(12))).toBe(false);
});

test("search demand and rankings take a session token, others do not [authentication/session-tokens]", async () => {
  const { accountId } = await running.account("pro");
  const { control } = running.emulator;
  const { token } = await control.createSession({ account_id: accountId });
  expect((await control.listKeys({ account_id: accountId })).items).toHaveLength(1);
  const statuses = await Promise.all(
    PROTECTED.map(async ([name, path, how]) => [
      name,
      (await running.ask(path, { ...how, key: token })).status,
    ]),
  );
  expect(Object.fromEntries(statuses)).toEqual({
    startInvestigation: 401,
    readInvestigation: 401,
    registerWebhook: 401,
    searchDemand: 200,
    rankings: 200,
  });
  const [claims = "", signature = ""] = token.split(".");
  for (const forged of [
    `${claims}x.${signature}`,
    `${claims}.${signature.slice(1)}`,
    `${claims}.`,
    `${token}.x`,
  ]) {
    expect(refusal(await running.ask("/research/rankings", { key: forged }))).toEqual({
      status: 401,
      code: "SESSION_INVALID",
    });
  }
});

const QUOTA_HEADERS = ["x-quota-limit", "x-quota-remaining", "x-quota-policy", "x-quota-reset"];

test("each counted operation takes one unit, what is refused takes none [limits/quota-units]", async () => {
  const { key } = await running.account("developer");
  const left = async (path: string, how: Asked = {}) =>
    (await running.ask(path, { ...how, key })).headers.get("x-quota-remaining");
  expect(await left(NO_TASK)).toBe("50");
  expect(await left("/research/rankings?limit=0")).toBe("50");
  expect(await left(...CALLS.startInvestigation)).toBe("50");
  expect(await left("/research/rankings?limit=1")).toBe("49");
  expect(await left("/research/search-demand?limit=1")).toBe("48");
  const slug = await anySlug();
  const body = { slug, idempotency_key: UUID, confirm_usage: true };
  expect(await left(STARTS, { body })).toBe("47");
  // A retry recovers its task, and is not counted again.
  expect(await left(STARTS, { body })).toBe("47");
  expect(await left(STARTS, { body: { ...body, locale: "zh-CN" } })).toBe("47");
});

async function anySlug(): Promise<string> {
  const { key } = await running.account("pro");
  const { body } = await running.ask("/research/rankings?limit=1", { key });
  return (body["items"] as { slug: string }[])[0]?.slug ?? "";
}

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
