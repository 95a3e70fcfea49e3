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
const UUID = "3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c0001";
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

/** Arguments that a tool takes; the task is one of the account. */
async function goodArguments(name: ToolName, accountId: number): Promise<object> {
  if (name === "start_promotion_investigation") return wish();
  if (name !== "get_promotion_investigation") return { limit: 1 };
  const { key } = await running.emulator.control.createKey({ account_id: accountId });
  const { body } = await running.ask(TASKS, { key, body: wish() });
  return { task_id: body["task_id"] };
}

test("a tool's result is REST's answer to the same call, as text and as an object [services/remote-mcp] [operations/remote-mcp] [mcp-notes/results] [mcp-tools/start_promotion_investigation] [mcp-tools/get_promotion_investigation] [mcp-tools/search_ai_demand] [mcp-tools/rank_ai_products]", async () => {
  const { key } = await running.account("pro");
  const start = wish({ locale: "zh-CN" });
  const { task_id } = (await running.ask(TASKS, { key, body: start })).body;
  const calls: [name: ToolName, given: object | undefined, path: string, how?: Asked][] = [
    ["start_promotion_investigation", start, TASKS, { body: start }],
    ["get_promotion_investigation", { task_id }, `${TASKS}/${String(task_id)}`],
    ["search_ai_demand", undefined, DEMAND],
    ["search_ai_demand", { type: "all", keyword_id: 1, min_products: 2 }, `${DEMAND}?type=all&keyword_id=1&min_products=2`],
    ["rank_ai_products", {}, RANKINGS],
    ["rank_ai_products", { sort: "gain", limit: 3, min_growth: 0.1 }, `${RANKINGS}?sort=gain&limit=3&min_growth=0.1`],
  ]; // prettier-ignore
  for (const [name, given, path, how] of calls) {
    const rest = await running.ask(path, { ...how, key });
    expect(rest.status, name).toBeLessThan(300);
    const { status, result } = await callTool(running.emulator, key, name, given);
    expect([status, result], name).toEqual([
      200,
      { content: [{ type: "text", text: rest.text }], structuredContent: rest.body },
    ]);
  }
});

test("a refused call is a tool error with REST's code, message and details [mcp-notes/errors] [versioning/view-is-retired] [start-investigation-notes/key-conflict] [read-investigation-notes/foreign-id] [task-states-notes/three-active]", async () => {
  const { key } = await running.account("pro");
  const first = wish();
  for (const body of [first, wish(), wish()]) await running.ask(TASKS, { key, body });
  const other = await running.account("pro");
  const foreign = (await running.ask(TASKS, { key: other.key, body: wish() })).body["task_id"] as string;
  const starting = (given: object, code: string) =>
    ["start_promotion_investigation", given, code, TASKS, { body: given }] as const;
  const reading = (task_id: string) =>
    ["get_promotion_investigation", { task_id }, "TASK_NOT_FOUND", `${TASKS}/${task_id}`, {}] as const;
  const calls: (readonly [name: ToolName, given: object, code: string, path: string, how: Asked])[] = [
    starting(wish({ confirm_usage: false }), "INVALID_BODY"),
    starting({ slug, idempotency_key: UUID }, "INVALID_BODY"),
    starting(wish({ product: slug }), "INVALID_BODY"),
    starting(wish({ slug: "no-such-product" }), "PRODUCT_NOT_FOUND"),
    starting({ ...first, locale: "zh-CN" }, "IDEMPOTENCY_KEY_CONFLICT"),
    starting(wish(), "ACTIVE_INVESTIGATIONS_EXCEEDED"),
    reading(NO_TASK),
    reading(foreign),
    ["search_ai_demand", { view: "map" }, "INVALID_PARAMETERS", `${DEMAND}?view=map`, {}],
    ["search_ai_demand", { market: "no-such" }, "RESOURCE_NOT_FOUND", `${DEMAND}?market=no-such`, {}],
    ["rank_ai_products", { page: 201, sort: "x" }, "INVALID_PARAMETERS", `${RANKINGS}?page=201&sort=x`, {}],
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
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": CURRENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What takes no quota: the messages of both eras of the protocol that call no tool. */
const FREE: readonly [what: string, message: object, headers?: Record<string, string>][] = [
  ["handshake", { id: 1, method: "initialize", params: CLIENT }],
  ["notification", { method: "notifications/initialized" }],
  ["discovery of tools", { id: 1, method: "tools/list" }],
  ["ping", { id: 1, method: "ping" }],
  [
    "discovery of the server",
    { id: 1, method: "server/discover", params: { _meta: ENVELOPE } },
    { "MCP-Protocol-Version": CURRENT, "Mcp-Method": "server/discover" },
  ],
];

test("the MCP takes keys alone: no OAuth, no session, 401 before anything else [authentication/no-oauth] [authentication/session-tokens] [authentication/401-and-403] [error-statuses/401]", async () => {
  const { key, accountId } = await running.account("pro");
  const { control, url } = running.emulator;
  const [listed] = (await control.listKeys({ account_id: accountId })).items;
  await control.revokeKey({ key_id: listed?.key_id ?? "" });
  const { token } = await control.createSession({ account_id: accountId });
  const call = { id: 1, method: "tools/call", params: { name: "rank_ai_products" } };
  for (const [, message, more] of [...FREE, ["a call", call] as const]) {
    const said = async (headers: Record<string, string>) => {
      const told = await sendMessage(running.emulator, message, { headers: { ...more, ...headers } });
      // No address of an authorisation server, which a client would look for.
      expect(told.headers.get("www-authenticate")).toBe("Bearer");
      return refusal(told);
    };
    expect(await said({})).toEqual({ status: 401, code: "API_KEY_MISSING" });
    expect(await said({ authorization: `Bearer x${key}` })).toEqual({ status: 401, code: "API_KEY_INVALID" });
    expect(await said({ authorization: `Bearer ${key}` })).toEqual({ status: 401, code: "API_KEY_REVOKED" });
    expect(await said({ authorization: `Bearer ${token}` })).toEqual({ status: 401, code: "SESSION_INVALID" });
  }
  for (const name of ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"]) {
    expect((await fetch(`${url}/.well-known/${name}`)).status).toBe(404);
  }
});

test.each(TOOLS)("%s wants mcp:tools and %s, and no other scope [authentication/scopes]", async (name, scope) => {
  const all = ["research:execute", "research:read", "webhooks:manage", "mcp:tools"] as const;
  const call = async (scopes: readonly (typeof all)[number][]) => {
    const { key, accountId } = await running.account("pro", { scopes });
    return (await callTool(running.emulator, key, name, await goodArguments(name, accountId))).error;
  };
  const refused = (missing: string) => ({ code: "SCOPE_INSUFFICIENT", message: expect.stringContaining(missing) });
  expect(await call(all.filter((each) => each !== "mcp:tools"))).toMatchObject(refused("mcp:tools"));
  expect(await call(all.filter((each) => each !== scope))).toMatchObject(refused(scope));
  expect(await call(["mcp:tools", scope])).toBeNull();
});

test.each([
  ["start_promotion_investigation", "api.access"],
  ["get_promotion_investigation", "api.access"],
  ["search_ai_demand", "search_demand.full_database"],
  ["rank_ai_products", "market.rankings"],
  ["rank_ai_products", "market.advanced_filters"],
] as const)("%s wants the entitlement %s [authentication/entitlements]", async (name, missing) => {
  const all = ["api.access", "search_demand.full_database", "market.rankings", "market.advanced_filters"] as const;
  const { key, accountId } = await running.account("pro");
  const given = await goodArguments(name, accountId);
  const call = async () => (await callTool(running.emulator, key, name, given)).error;
  const entitle = (entitlements: (typeof all)[number][]) =>
    running.emulator.control.updateAccount({ account_id: accountId, entitlements });
  await entitle(all.filter((each) => each !== missing));
  expect(await call()).toMatchObject({ code: "ACCESS_INSUFFICIENT", message: expect.stringContaining(missing) });
  await entitle([...all]);
  expect(await call()).toBeNull();
});

/** Sends each of the free messages once. */
const sendFree = (emulator: Emulator, key: string): Promise<Told[]> =>
  Promise.all(FREE.map(([, message, headers = {}]) => sendMessage(emulator, message, { key, headers })));

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
  const read = async (given = key) => (await call(given)).error?.code;

  expect((await askRest()).status).toBe(404);
  for (let sent = 1; sent < 120; sent += FREE.length + 2) {
    expect((await sendFree(emulator, key)).map(({ status }) => status)).toEqual([200, 202, 200, 200, 200]);
    expect([(await askRest()).status, await read()]).toEqual([404, "TASK_NOT_FOUND"]);
  }
  for (const told of [await askRest(), ...(await sendFree(emulator, key))]) {
    expect(refusal(told)).toEqual({ status: 429, code: "RATE_LIMITED" });
    expect([told.headers.get("retry-after"), ...quotaOf(told)]).toEqual(["60", ...quota(50)]);
  }
  const limited = await call(key);
  expect([limited.status, limited.error?.code]).toEqual([200, "RATE_LIMITED"]);
  expect([limited.headers.get("retry-after"), ...quotaOf(limited)]).toEqual(["60", ...quota(50)]);
  expect(await read(second)).toBe("TASK_NOT_FOUND");
  await emulator.control.advance({ ms: 59_999 });
  expect(await read()).toBe("RATE_LIMITED");
  await emulator.control.advance({ ms: 1 });
  expect(await read()).toBe("TASK_NOT_FOUND");
});

test("fifty counted calls a month, over REST and MCP and all keys together, and what is free stays free [limits/monthly-calls] [authentication/usage-is-shared] [errors/quota-code] [errors/quota-details] [errors/quota-headers] [mcp-notes/free-calls] [limits/not-counted] [read-investigation-notes/free-when-exhausted] [error-statuses/429]", async () => {
  const own = await startEmulator();
  const { emulator } = own;
  const { key, accountId } = await own.account("pro");
  const { key: second } = await emulator.control.createKey({ account_id: accountId });
  const { task_id } = (await own.ask(TASKS, { key, body: wish() })).body;
  await emulator.control.updateAccount({ account_id: accountId, tier: "developer" });
  for (let left = 48; left >= 0; left -= 2) {
    expect(quotaOf(await own.ask(RANKINGS, { key }))).toEqual(quota(left + 1));
    expect(quotaOf(await callTool(emulator, second, "search_ai_demand"))).toEqual(quota(left));
  }
  const counted = { rank_ai_products: {}, search_ai_demand: {}, start_promotion_investigation: wish() };
  for (const each of [key, second]) {
    for (const [name, given] of Object.entries(counted)) {
      const told = await callTool(emulator, each, name, given);
      expect([told.status, ...quotaOf(told), told.headers.get("retry-after")]).toEqual([200, ...quota(0), null]);
      expect(told.error).toMatchObject({ code: "PRO_API_QUOTA_EXHAUSTED", details: { limit: 50, remaining: 0 } });
    }
    expect(refusal(await own.ask(RANKINGS, { key: each }))).toEqual({ status: 429, code: "PRO_API_QUOTA_EXHAUSTED" });
    const reading = await callTool(emulator, each, "get_promotion_investigation", { task_id });
    expect([reading.error, quotaOf(reading)]).toEqual([null, quota(0)]);
    for (const told of await sendFree(emulator, each)) {
      expect([told.status < 300, quotaOf(told)]).toEqual([true, quota(0)]);
    }
  }
  await emulator.control.advance({ to: "2026-11-01T00:00:00Z" });
  const { headers, error } = await callTool(emulator, key, "rank_ai_products");
  expect([error, headers.get("x-quota-remaining")]).toEqual([null, "49"]);
});

test("a start takes one unit; its retry, what is refused and what is free take none [limits/quota-units] [limits/not-counted] [task-states/same-key-same-inputs]", async () => {
  const { emulator, ask } = running;
  const { key } = await running.account("developer");
  const look = async (name: ToolName, given: object) => {
    const { headers, result, error } = await callTool(emulator, key, name, given);
    return [
      headers.get("x-quota-remaining"),
      error?.code ?? (result.structuredContent as { task_id?: string }).task_id,
    ];
  };
  const starting = (given: object) => look("start_promotion_investigation", given);
  await sendFree(emulator, key);
  await sendMessage(emulator, { id: 1, method: "tools/call", params: { name: "no_such_tool" } }, { key });
  const start = wish();
  const [left, taskId] = await starting(start);
  expect([left, taskId]).toEqual(["49", expect.stringMatching(/^task_/)]);
  expect(await starting(start)).toEqual(["49", taskId]);
  expect((await ask(TASKS, { key, body: start })).body["task_id"]).toBe(taskId);
  expect(await starting({ ...start, locale: "zh-CN" })).toEqual(["49", "IDEMPOTENCY_KEY_CONFLICT"]);
  expect(await starting(wish({ confirm_usage: false }))).toEqual(["49", "INVALID_BODY"]);
  expect(await look("get_promotion_investigation", { task_id: taskId })).toEqual(["49", taskId]);
  expect(await look("rank_ai_products", { limit: 0 })).toEqual(["49", "INVALID_PARAMETERS"]);
  expect(await look("rank_ai_products", { category: "no-such" })).toEqual(["49", "RESOURCE_NOT_FOUND"]);
  expect(await look("search_ai_demand", {})).toEqual(["48", undefined]);
});

test("Pro and Enterprise have no cap on MCP calls, and no quota headers [limits/mcp-cap] [tiers/pro-and-enterprise] [errors/quota-headers-for-limited-only]", async () => {
  for (const tier of ["pro", "enterprise"] as const) {
    const { key } = await running.account(tier);
    for (let calls = 1; calls <= 60; calls++) {
      const told = await callTool(running.emulator, key, "rank_ai_products", { limit: 1 });
      expect([told.error, quotaOf(told)]).toEqual([null, NO_QUOTA]);
    }
    for (const told of await sendFree(running.emulator, key)) expect(quotaOf(told)).toEqual(NO_QUOTA);
  }
});

test("Developer Access gets page 1, ten rows, five sectors and one month [limits/developer-results] [tiers/developer] [search-demand-notes/developer-view] [rankings-notes/developer-view]", async () => {
  const look = async (tier: "developer" | "pro") => {
    const { key } = await running.account(tier);
    const call = async (name: ToolName, given: object) =>
      (await callTool(running.emulator, key, name, given)).result.structuredContent as Record<string, unknown>;
    const ranked = await call("rank_ai_products", { page: 2, limit: 50 });
    const demand = await call("search_ai_demand", { page: 2, limit: 50, keyword_id: 1 });
    const { history } = demand["keyword"] as { history: unknown[] };
    return {
      pages: [ranked, demand].map(({ pagination }) => (pagination as { page: number }).page),
      rows: [ranked, demand].map(({ items }) => (items as unknown[]).length),
      sectors: (demand["markets"] as unknown[]).length,
      months: history.length,
    };
  };
  expect(await look("developer")).toEqual({ pages: [1, 1], rows: [10, 10], sectors: 5, months: 1 });
  expect(await look("pro")).toEqual({ pages: [2, 2], rows: [50, 50], sectors: 18, months: 12 });
});

test("a fault of an operation is an error of its tool, and takes no unit [error-statuses/503] [start-investigation-notes/not-activated]", async () => {
  const { key } = await running.account("developer");
  const { control } = running.emulator;
  await control.setOperationFault({ operation: "rankings", code: "DATA_UNAVAILABLE", calls: 1 });
  await control.setOperationFault({ operation: "startInvestigation", code: "FEATURE_NOT_ACTIVATED", calls: 1 });
  const look = async (name: ToolName, given: object) => {
    const { status, headers, error } = await callTool(running.emulator, key, name, given);
    return [status, error?.code, headers.get("x-quota-remaining")];
  };
  expect(await look("rank_ai_products", {})).toEqual([200, "DATA_UNAVAILABLE", "50"]);
  expect(await look("start_promotion_investigation", wish())).toEqual([200, "FEATURE_NOT_ACTIVATED", "50"]);
  expect(await look("rank_ai_products", {})).toEqual([200, undefined, "49"]);
  expect(await look("start_promotion_investigation", wish())).toEqual([200, undefined, "48"]);
});
