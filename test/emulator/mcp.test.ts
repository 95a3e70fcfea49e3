import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/instance/create-emulator.js";
import { callTool, sendMessage } from "./call-tool.js";
import { openEmulator, refusal, startEmulator, type Asked, type RunningEmulator, type Told } from "./start-emulator.js";

let running: RunningEmulator;
let slug: string;
beforeAll(async () => {
  running = await openEmulator();
  const { key } = await running.account("pro");
  const { body } = await running.ask(`${RANKINGS}?limit=1`, { key });
  slug = (body["items"] as { slug: string }[])[0]?.slug ?? "";
});
afterAll(() => running.emulator.close());

const RANKINGS = "/research/rankings";
const DEMAND = "/research/search-demand";
const TASKS = "/research/promotion-investigations";
const NO_TASK = "task_00000000-0000-4000-8000-000000000000";

/** The tools, each with the scope that it needs besides `mcp:tools`. */
const TOOLS = [
  ["start_promotion_investigation", "research:execute"],
  ["get_promotion_investigation", "research:read"],
  ["search_ai_demand", "research:read"],
  ["rank_ai_products", "research:read"],
] as const;
type ToolName = (typeof TOOLS)[number][0];

/** A new start of an investigation. */
const wish = (more: object = {}) => ({ slug, idempotency_key: randomUUID(), confirm_usage: true, ...more });

test("a tool's result is REST's answer to the same call, as text and as an object [services/remote-mcp] [operations/remote-mcp] [mcp-notes/results] [mcp-tools/start_promotion_investigation] [mcp-tools/get_promotion_investigation] [mcp-tools/search_ai_demand] [mcp-tools/rank_ai_products]", async () => {
  const { key } = await running.account("pro");
  const start = wish({ locale: "zh-CN" });
  const { task_id } = (await running.ask(TASKS, { key, body: start })).body;
  const calls: [name: ToolName, given: object | undefined, path: string, how?: Asked][] = [
    ["start_promotion_investigation", start, TASKS, { body: start }],
    ["get_promotion_investigation", { task_id }, `${TASKS}/${String(task_id)}`],
    ["search_ai_demand", undefined, DEMAND],
    ["rank_ai_products", { sort: "gain", limit: 3 }, `${RANKINGS}?sort=gain&limit=3`],
  ];
  for (const [name, given, path, how] of calls) {
    const rest = await running.ask(path, { ...how, key });
    expect(rest.status, name).toBeLessThan(300);
    const { status, result } = await callTool(running.emulator, key, name, given);
    const whole = { content: [{ type: "text", text: rest.text }], structuredContent: rest.body };
    expect([status, result], name).toEqual([200, whole]);
  }
});

test("Developer Access gets page 1, ten rows, one month and five sectors [limits/developer-results] [tiers/developer]", async () => {
  const { key } = await running.account("developer");
  const call = async (name: ToolName, given: object) =>
    (await callTool(running.emulator, key, name, given)).result.structuredContent;
  const ranked = await call("rank_ai_products", { page: 2, limit: 50 });
  const demand = await call("search_ai_demand", { page: 2, limit: 50, keyword_id: 1 });
  for (const given of [ranked, demand]) {
    expect(given).toHaveProperty("pagination.page", 1);
    expect(given).toHaveProperty("items.length", 10);
  }
  expect(demand).toHaveProperty("markets.length", 5);
  expect(demand).toHaveProperty("keyword.history.length", 1);
});

test("a refused call is a tool error with REST's code, message and details, in text and object [mcp-notes/errors]", async () => {
  const { key } = await running.account("pro");
  const starts = [wish(), wish(), wish()];
  for (const body of starts) await running.ask(TASKS, { key, body });
  const other = await running.account("pro");
  const foreign = (await running.ask(TASKS, { key: other.key, body: wish() })).body["task_id"] as string;
  await running.emulator.control.setOperationFault({ operation: "rankings", code: "DATA_UNAVAILABLE", calls: 2 });
  const starting = (given: object, code: string) =>
    ["start_promotion_investigation", given, code, TASKS, { body: given }] as const;
  const reading = (task_id: string) =>
    ["get_promotion_investigation", { task_id }, "TASK_NOT_FOUND", `${TASKS}/${task_id}`, {}] as const;
  const calls: (readonly [name: ToolName, given: object, code: string, path: string, how: Asked])[] = [
    starting(wish({ confirm_usage: false, product: slug }), "INVALID_BODY"),
    starting(wish({ slug: "no-such-product" }), "PRODUCT_NOT_FOUND"),
    starting({ ...starts[0], locale: "zh-CN" }, "IDEMPOTENCY_KEY_CONFLICT"),
    starting(wish(), "ACTIVE_INVESTIGATIONS_EXCEEDED"),
    reading(NO_TASK),
    reading(foreign),
    ["search_ai_demand", { view: "map" }, "INVALID_PARAMETERS", `${DEMAND}?view=map`, {}],
    ["rank_ai_products", {}, "DATA_UNAVAILABLE", RANKINGS, {}],
  ];
  for (const [name, given, code, path, how] of calls) {
    const rest = await running.ask(path, { ...how, key });
    const { status, headers, result, error } = await callTool(running.emulator, key, name, given);
    expect([status, error, error?.code], JSON.stringify(given)).toEqual([200, rest.body["error"], code]);
    const text = JSON.stringify({ error, request_id: headers.get("x-request-id") });
    expect(result).toEqual({ content: [{ type: "text", text }], structuredContent: JSON.parse(text), isError: true });
  }
  // The path of REST takes any text, so a text that is no id is unknown there. The argument has a pattern.
  const { error } = await callTool(running.emulator, key, "get_promotion_investigation", { task_id: "task_1" });
  expect(error).toMatchObject({ code: "INVALID_PARAMETERS", details: [{ parameter: "task_id" }] });
});

const CLIENT = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const CURRENT = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": CURRENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What takes no quota: handshake, notification, discovery and ping, and the discovery of the protocol's other era. */
const FREE: readonly [message: object, headers?: Record<string, string>][] = [
  [{ id: 1, method: "initialize", params: CLIENT }],
  [{ method: "notifications/initialized" }],
  [{ id: 1, method: "tools/list" }],
  [{ id: 1, method: "ping" }],
  [
    { id: 1, method: "server/discover", params: { _meta: META } },
    { "MCP-Protocol-Version": CURRENT, "Mcp-Method": "server/discover" },
  ],
];

test("the MCP takes keys alone: no OAuth, no session, 401 before anything else [authentication/no-oauth] [authentication/session-tokens] [authentication/401-and-403] [error-statuses/401]", async () => {
  const { key, accountId } = await running.account("pro");
  const { control, url } = running.emulator;
  const [listed] = (await control.listKeys({ account_id: accountId })).items;
  await control.revokeKey({ key_id: listed?.key_id ?? "" });
  const { token } = await control.createSession({ account_id: accountId });
  const refused = async (headers: Record<string, string>) => {
    const told = await sendMessage(running.emulator, { method: 5 }, { headers });
    // No address of an authorisation server, which a client would look for.
    expect([told.status, told.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    return refusal(told).code;
  };
  expect(await refused({})).toBe("API_KEY_MISSING");
  expect(await refused({ authorization: `Bearer x${key}` })).toBe("API_KEY_INVALID");
  expect(await refused({ authorization: `Bearer ${key}` })).toBe("API_KEY_REVOKED");
  expect(await refused({ authorization: `Bearer ${token}` })).toBe("SESSION_INVALID");
  for (const name of ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"]) {
    expect((await fetch(`${url}/.well-known/${name}`)).status).toBe(404);
  }
});

test.each(TOOLS)(
  "%s wants mcp:tools, %s and api.access, and no other scope [authentication/scopes]",
  async (name, scope) => {
    const all = ["research:execute", "research:read", "webhooks:manage", "mcp:tools"] as const;
    const given = { start_promotion_investigation: wish(), get_promotion_investigation: { task_id: NO_TASK } };
    const call = async (scopes: readonly (typeof all)[number][], more: { entitlements?: readonly [] } = {}) => {
      const { key } = await running.account("pro", { scopes, ...more });
      const { error } = await callTool(running.emulator, key, name, Reflect.get(given, name));
      return error === null || error.code === "TASK_NOT_FOUND" ? "passed" : `${error.code} ${error.message}`;
    };
    const without = (left: string) => all.filter((each) => each !== left);
    // As in REST, the scopes are checked before the entitlements.
    const entitlements = [] as const;
    expect(await call(without("mcp:tools"), { entitlements })).toMatch(/^SCOPE_INSUFFICIENT .* mcp:tools/);
    expect(await call(without(scope), { entitlements })).toMatch(new RegExp(`^SCOPE_INSUFFICIENT .* ${scope}`));
    expect(await call(all, { entitlements })).toMatch(/^ACCESS_INSUFFICIENT .* api\.access/);
    expect(await call(["mcp:tools", scope])).toBe("passed");
  },
);

/** Sends each of the free messages once. */
const sendFree = (emulator: Emulator, key: string): Promise<Told[]> =>
  Promise.all(FREE.map(([message, headers = {}]) => sendMessage(emulator, message, { key, headers })));

const QUOTA_HEADERS = ["x-quota-limit", "x-quota-remaining", "x-quota-policy", "x-quota-reset"];
const quotaOf = ({ headers }: Pick<Told, "headers">) => QUOTA_HEADERS.map((name) => headers.get(name));
const NO_QUOTA = [null, null, null, null];
const quota = (left: number) => ["50", String(left), "50;month", "2026-11-01T00:00:00.000Z"];

test("a key has 120 requests in 60 seconds, over REST and MCP together, and free messages count [limits/request-rate] [limits-notes/free-operations-are-limited] [read-investigation-notes/rate-limits-apply]", async () => {
  const own = await startEmulator();
  const { emulator } = own;
  const { key, accountId } = await own.account("developer");
  const { key: second } = await emulator.control.createKey({ account_id: accountId });
  const askRest = () => own.ask(`${TASKS}/${NO_TASK}`, { key });
  const call = (given: string) => callTool(emulator, given, "get_promotion_investigation", { task_id: NO_TASK });

  expect((await askRest()).status).toBe(404);
  for (let sent = 1; sent < 120; sent += FREE.length + 2) {
    expect((await sendFree(emulator, key)).map(({ status }) => status)).toEqual([200, 202, 200, 200, 200]);
    expect([(await askRest()).status, (await call(key)).error?.code]).toEqual([404, "TASK_NOT_FOUND"]);
  }
  for (const told of [await askRest(), ...(await sendFree(emulator, key))]) {
    expect(refusal(told)).toEqual({ status: 429, code: "RATE_LIMITED" });
    expect([told.headers.get("retry-after"), ...quotaOf(told)]).toEqual(["60", ...quota(50)]);
  }
  const limited = await call(key);
  expect([limited.status, limited.error?.code]).toEqual([200, "RATE_LIMITED"]);
  expect([limited.headers.get("retry-after"), ...quotaOf(limited)]).toEqual(["60", ...quota(50)]);
  expect((await call(second)).error?.code).toBe("TASK_NOT_FOUND");
});

test("fifty counted calls a UTC month, over REST and MCP and all keys together, and what is free stays free [limits/monthly-calls] [limits/quota-units] [authentication/usage-is-shared] [errors/quota-code] [errors/quota-details] [errors/quota-headers] [mcp-notes/free-calls] [limits/not-counted] [read-investigation-notes/free-when-exhausted] [error-statuses/429] [task-states/same-key-same-inputs]", async () => {
  const own = await startEmulator();
  const { emulator } = own;
  const { key, accountId } = await own.account("developer");
  const { key: second } = await emulator.control.createKey({ account_id: accountId });
  const start = wish();
  const started = await callTool(emulator, key, "start_promotion_investigation", start);
  const again = await callTool(emulator, second, "start_promotion_investigation", start);
  expect([quotaOf(started), quotaOf(again)]).toEqual([quota(49), quota(49)]);
  expect(again.result).toEqual(started.result);
  const { task_id } = started.result.structuredContent as { task_id: string };
  for (let left = 48; left >= 0; left -= 2) {
    expect(quotaOf(await own.ask(RANKINGS, { key }))).toEqual(quota(left));
    if (left > 0) expect(quotaOf(await callTool(emulator, second, "search_ai_demand"))).toEqual(quota(left - 1));
  }
  const counted = { rank_ai_products: {}, search_ai_demand: {}, start_promotion_investigation: wish() };
  for (const each of [key, second]) {
    for (const [name, given] of Object.entries(counted)) {
      const told = await callTool(emulator, each, name, given);
      expect([told.status, ...quotaOf(told), told.headers.get("retry-after")]).toEqual([200, ...quota(0), null]);
      expect(told.error).toMatchObject({ code: "PRO_API_QUOTA_EXHAUSTED", details: { limit: 50, remaining: 0 } });
    }
    const rest = await own.ask(RANKINGS, { key: each });
    expect([refusal(rest), ...quotaOf(rest), rest.headers.get("retry-after")]).toEqual([
      { status: 429, code: "PRO_API_QUOTA_EXHAUSTED" },
      ...quota(0),
      null,
    ]);
    expect(rest.body["error"]).toMatchObject({ details: { limit: 50, remaining: 0 } });
    const reading = await callTool(emulator, each, "get_promotion_investigation", { task_id });
    expect([reading.error, quotaOf(reading)]).toEqual([null, quota(0)]);
    expect((await own.ask(`${TASKS}/${task_id}`, { key: each })).status).toBe(200);
    for (const told of await sendFree(emulator, each)) {
      expect([told.status < 300, quotaOf(told)]).toEqual([true, quota(0)]);
    }
  }
  // The month turns at midnight UTC, not a moment before.
  await emulator.control.advance({ to: "2026-10-31T23:59:59.999Z" });
  expect((await own.ask(RANKINGS, { key })).status).toBe(429);
  await emulator.control.advance({ ms: 1 });
  const { error, ...told } = await callTool(emulator, key, "rank_ai_products");
  expect([error, quotaOf(told)]).toEqual([null, ["50", "49", "50;month", "2026-12-01T00:00:00.000Z"]]);
});

test("Pro and Enterprise have no cap on MCP calls, and no quota headers; public calls have none either [limits/mcp-cap] [tiers/pro-and-enterprise] [errors/quota-headers-for-limited-only]", async () => {
  for (const tier of ["pro", "enterprise"] as const) {
    const { key } = await running.account(tier);
    for (let calls = 1; calls <= 60; calls++) {
      const told = await callTool(running.emulator, key, "rank_ai_products", { limit: 1 });
      expect([told.error, quotaOf(told)]).toEqual([null, NO_QUOTA]);
    }
    const others = [await running.ask(RANKINGS, { key }), ...(await sendFree(running.emulator, key))];
    for (const told of others) expect(quotaOf(told)).toEqual(NO_QUOTA);
  }
  const { key } = await running.account("developer");
  expect(quotaOf(await running.ask("/tools/no-such-product", { key }))).toEqual(NO_QUOTA);
});
