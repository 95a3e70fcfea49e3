import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SCOPES, type Scope } from "../../src/service/contract/access.js";
import { OPERATIONS } from "../../src/service/contract/operations.js";
import { callTool, sendMessage } from "./call-tool.js";
import {
  askAt,
  openEmulator,
  refusal,
  startEmulator,
  type RunningEmulator,
  type Told,
} from "./start-emulator.js";

const RANKINGS = "/research/rankings";
const TASKS = "/research/promotion-investigations";
const NO_TASK = "task_00000000-0000-4000-8000-000000000000";

const failures: object[] = [];
let running: RunningEmulator;
let slug: string;
beforeAll(async () => {
  running = await openEmulator({
    onEvent: (event) => void (event.event === "failed" && failures.push(event)),
  });
  const { key } = await running.account("pro");
  const { body } = await running.ask(`${RANKINGS}?limit=1`, { key });
  slug = (body["items"] as { slug: string }[])[0]?.slug ?? "";
});
afterAll(async () => {
  // The emulator refused much of this, and failed at nothing.
  expect(failures).toEqual([]);
  await running.emulator.close();
});

/** A new start of an investigation. */
const wish = (more: object = {}) => ({
  slug,
  idempotency_key: randomUUID(),
  confirm_usage: true,
  ...more,
});

test("the tools have the parameters of REST, and only a start changes anything [mcp-tools/search_ai_demand] [mcp-tools/rank_ai_products]", async () => {
  const { key } = await running.account("pro");
  const { body } = await sendMessage(running.emulator, { id: 1, method: "tools/list" }, { key });
  const { tools } = body["result"] as {
    tools: { name: string; inputSchema: { properties: object } }[];
  };
  const described = tools.map(({ name, inputSchema: { properties } }) => [
    name,
    Object.keys(properties),
  ]);
  const { startInvestigation, searchDemand, rankings } = OPERATIONS;
  expect(Object.fromEntries(described)).toEqual({
    start_promotion_investigation: Object.keys(startInvestigation.body.shape),
    get_promotion_investigation: ["task_id"],
    search_ai_demand: Object.keys(searchDemand.query.shape),
    rank_ai_products: Object.keys(rankings.query.shape),
  });
  for (const tool of tools) {
    const readOnlyHint = tool.name !== "start_promotion_investigation";
    const annotations = { readOnlyHint, idempotentHint: true, destructiveHint: false };
    expect(tool).toMatchObject({
      annotations,
      inputSchema: { type: "object", additionalProperties: false },
    });
  }
});

test("the MCP takes keys alone: no OAuth, no session, 401 before anything else [authentication/no-oauth] [authentication/session-tokens] [authentication/401-and-403] [error-statuses/401]", async () => {
  const { accountId } = await running.account("pro");
  const { control, url } = running.emulator;
  const { token } = await control.createSession({ account_id: accountId });
  const refused = async (headers: Record<string, string>) => {
    const told = await sendMessage(running.emulator, { method: 5 }, { headers });
    // No address of an authorisation server, which a client would look for.
    expect([told.status, told.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    return refusal(told).code;
  };
  expect(await refused({})).toBe("API_KEY_MISSING");
  expect(await refused({ authorization: `Bearer ${token}` })).toBe("SESSION_INVALID");
  for (const name of ["oauth-protected-resource/mcp", "oauth-authorization-server"]) {
    expect((await fetch(`${url}/.well-known/${name}`)).status).toBe(404);
  }
});

test.each<[name: string, scope: Scope]>([
  ["start_promotion_investigation", "research:execute"],
  ["get_promotion_investigation", "research:read"],
  ["search_ai_demand", "research:read"],
  ["rank_ai_products", "research:read"],
])(
  "%s wants mcp:tools, %s and api.access, and no other scope [authentication/scopes]",
  async (name, scope) => {
    const given = {
      start_promotion_investigation: wish(),
      get_promotion_investigation: { task_id: NO_TASK },
    };
    const call = async (scopes: readonly Scope[], more: { entitlements?: readonly [] } = {}) => {
      const { key } = await running.account("pro", { scopes, ...more });
      const { error } = await callTool(running.emulator, key, name, Reflect.get(given, name));
      return error === null || error.code === "TASK_NOT_FOUND"
        ? "passed"
        : `${error.code} ${error.message}`;
    };
    const without = (left: string) => SCOPES.filter((each) => each !== left);
    // As in REST, the scopes are checked before the entitlements.
    const entitlements = [] as const;
    expect(await call(without("mcp:tools"), { entitlements })).toMatch(
      /^SCOPE_INSUFFICIENT .* mcp:tools/,
    );
    expect(await call(without(scope), { entitlements })).toMatch(
      new RegExp(`^SCOPE_INSUFFICIENT .* ${scope}`),
    );
    expect(await call(SCOPES, { entitlements })).toMatch(/^ACCESS_INSUFFICIENT .* api\.access/);
    expect(await call(["mcp:tools", scope])).toBe("passed");
  },
);

const CURRENT = "2026-07-28";
const VERSION = "io.modelcontextprotocol/protocolVersion";
const META = { [VERSION]: CURRENT, "io.modelcontextprotocol/clientCapabilities": {} };
const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

/**
 * What takes no quota: handshake, notification, list, ping, and the discovery of the protocol's
 * other era.
 */
const FREE: readonly [message: object, headers?: Record<string, string>][] = [
  [{ id: 1, method: "initialize", params: INITIALIZE }],
  [{ method: "notifications/initialized" }],
  [{ id: 1, method: "tools/list" }],
  [{ id: 1, method: "ping" }],
  [
    { id: 1, method: "server/discover", params: { _meta: META } },
    { "MCP-Protocol-Version": CURRENT, "Mcp-Method": "server/discover" },
  ],
];
/** Sends each of the free messages once. */
const sendFree = ({ emulator }: RunningEmulator, key: string): Promise<Told[]> =>
  Promise.all(
    FREE.map(([message, headers = {}]) => sendMessage(emulator, message, { key, headers })),
  );

const QUOTA_HEADERS = ["x-quota-limit", "x-quota-remaining", "x-quota-policy", "x-quota-reset"];
const quotaOf = ({ headers }: Pick<Told, "headers">) =>
  QUOTA_HEADERS.map((name) => headers.get(name));
const quota = (left: number) => ["50", String(left), "50;month", "2026-11-01T00:00:00.000Z"];

test("a key has 120 requests in 60 seconds, over REST and MCP together, and free messages count [limits/request-rate] [limits-notes/free-operations-are-limited] [read-investigation-notes/rate-limits-apply]", async () => {
  const own = await startEmulator();
  const { key, accountId } = await own.account("developer");
  const { key: second } = await own.emulator.control.createKey({ account_id: accountId });
  const askRest = () => own.ask(`${TASKS}/${NO_TASK}`, { key });
  const call = (given: string) =>
    callTool(own.emulator, given, "get_promotion_investigation", { task_id: NO_TASK });
  for (let sent = 0; sent < 119; sent += FREE.length + 2) {
    expect((await sendFree(own, key)).map(({ status }) => status)).toEqual([
      200, 202, 200, 200, 200,
    ]);
    expect([(await askRest()).status, (await call(key)).error?.code]).toEqual([
      404,
      "TASK_NOT_FOUND",
    ]);
  }
  expect((await askRest()).status).toBe(404);
  for (const told of [await askRest(), ...(await sendFree(own, key))]) {
    expect(refusal(told)).toEqual({ status: 429, code: "RATE_LIMITED" });
    expect([told.headers.get("retry-after"), ...quotaOf(told)]).toEqual(["60", ...quota(50)]);
  }
  const limited = await call(key);
  expect([limited.status, limited.error?.code, limited.headers.get("retry-after")]).toEqual([
    200,
    "RATE_LIMITED",
    "60",
  ]);
  expect((await call(second)).error?.code).toBe("TASK_NOT_FOUND");
});

test("fifty counted calls a UTC month, over REST and MCP and all keys together, and what is free stays free [limits/monthly-calls] [limits/quota-units] [authentication/usage-is-shared] [errors/quota-code] [errors/quota-details] [errors/quota-headers] [mcp-notes/free-calls] [limits/not-counted] [read-investigation-notes/free-when-exhausted] [error-statuses/429] [task-states/same-key-same-inputs]", async () => {
  const own = await startEmulator();
  const { emulator } = own;
  const { key, accountId } = await own.account("developer");
  const { key: second } = await emulator.control.createKey({ account_id: accountId });
  const start = wish();
  const started = await callTool(emulator, key, "start_promotion_investigation", start);
  // The same start again is the same task, and takes nothing.
  const again = await callTool(emulator, second, "start_promotion_investigation", start);
  expect([quotaOf(started), quotaOf(again), again.result]).toEqual([
    quota(49),
    quota(49),
    started.result,
  ]);
  const { task_id } = started.result.structuredContent as { task_id: string };
  for (let left = 48; left >= 0; left -= 2) {
    expect(quotaOf(await own.ask(RANKINGS, { key }))).toEqual(quota(left));
    if (left > 0)
      expect(quotaOf(await callTool(emulator, second, "search_ai_demand"))).toEqual(
        quota(left - 1),
      );
  }
  for (const each of [key, second]) {
    for (const [name, given] of [
      ["rank_ai_products"],
      ["start_promotion_investigation", wish()],
    ] as const) {
      const told = await callTool(emulator, each, name, given);
      expect([told.status, ...quotaOf(told), told.headers.get("retry-after")]).toEqual([
        200,
        ...quota(0),
        null,
      ]);
      expect(told.error).toMatchObject({
        code: "PRO_API_QUOTA_EXHAUSTED",
        details: { limit: 50, remaining: 0 },
      });
    }
    const rest = await own.ask(RANKINGS, { key: each });
    const error = { code: "PRO_API_QUOTA_EXHAUSTED", details: { limit: 50, remaining: 0 } };
    expect([rest.status, ...quotaOf(rest), rest.headers.get("retry-after")]).toEqual([
      429,
      ...quota(0),
      null,
    ]);
    expect(rest.body["error"]).toMatchObject(error);
    const reading = await callTool(emulator, each, "get_promotion_investigation", { task_id });
    expect([reading.error, quotaOf(reading)]).toEqual([null, quota(0)]);
    for (const told of await sendFree(own, each))
      expect([told.status < 300, quotaOf(told)]).toEqual([true, quota(0)]);
  }
  // The month turns at midnight UTC, not a moment before.
  await emulator.control.advance({ to: "2026-10-31T23:59:59.999Z" });
  expect((await own.ask(RANKINGS, { key })).status).toBe(429);
  await emulator.control.advance({ ms: 1 });
  const next = quotaOf(await callTool(emulator, key, "rank_ai_products"));
  expect(next).toEqual(["50", "49", "50;month", "2026-12-01T00:00:00.000Z"]);
});

test("Pro and Enterprise have no cap on MCP calls, and no quota headers; public calls have none either [limits/mcp-cap] [tiers/pro-and-enterprise] [errors/quota-headers-for-limited-only]", async () => {
  for (const tier of ["pro", "enterprise"] as const) {
    const { key } = await running.account(tier);
    const told: Pick<Told, "status" | "headers">[] = [
      await running.ask(RANKINGS, { key }),
      ...(await sendFree(running, key)),
    ];
    for (let calls = 1; calls <= 51; calls++)
      told.push(await callTool(running.emulator, key, "rank_ai_products", { limit: 1 }));
    for (const each of told)
      expect([each.status < 300, ...quotaOf(each)]).toEqual([true, null, null, null, null]);
  }
  expect(quotaOf(await running.ask("/tools/no-such-product"))).toEqual([null, null, null, null]);
});

test("bytes that are no UTF-8, too many levels and too many bytes are refused", async () => {
  const { key } = await running.account("pro");
  const ask = askAt(() => running.emulator.mcpUrl);
  const codeOf = async (body: string | Uint8Array): Promise<unknown> =>
    refusal(await ask("", { key, body })).code;
  expect(await codeOf(Uint8Array.of(0x22, 0xff, 0x22))).toBe(-32_700);
  const nested = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const params = { ...INITIALIZE, capabilities: { experimental: { a: { b: "NESTED" } } } };
  const deep = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  expect(await codeOf(deep.replace('"NESTED"', nested))).toBe(-32_600);
  expect(await codeOf("x".repeat(70_000))).toBe("INVALID_BODY");
});
