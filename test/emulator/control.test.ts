import { request } from "node:http";
import { networkInterfaces } from "node:os";
import Database from "better-sqlite3";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveEndpoint } from "../unit/emulator/webhooks/webhook-world.js";
import {
  askAt,
  BEGINNING,
  openEmulator,
  refusal,
  startEmulator,
  type Ask,
  type RunningEmulator,
} from "./start-emulator.js";

let running: RunningEmulator;
let control: Ask;
beforeAll(async () => {
  running = await openEmulator({
    accounts: [{ name: "First", tier: "pro", key: "sbk_a_key_that_is_always_the_same" }],
  });
  control = askAt(() => `${running.emulator.url}/_emulator`);
});
afterAll(() => running.emulator.close());

interface Listed {
  name: string;
  method: string;
  path: string;
  about: string;
  input: { type?: string; oneOf?: unknown[] };
}

test("what is listed is what there is as methods, each with its input and a sentence", async () => {
  const { body } = await control("");
  const operations = body["operations"] as Listed[];
  expect(operations.map(({ name }) => name).sort()).toEqual(Object.keys(running.emulator.control).sort());
  for (const { path, about, input } of operations) {
    expect(path).toMatch(/^\/_emulator\/[a-z]/);
    expect(about, path).toMatch(/^[A-Z].*\.$/);
    expect(input.type === "object" || Array.isArray(input.oneOf), path).toBe(true);
  }
  const routes = operations.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(routes).size).toBe(routes.length);
});

test("the same over HTTP as by methods", async () => {
  const made = await control("/accounts", { body: { name: "Over HTTP", tier: "enterprise" } });
  expect(made.status).toBe(200);
  const { items } = await running.emulator.control.listAccounts();
  expect(items.at(-1)).toEqual({ ...made.body, calls_this_month: 0 });
  const { account_id } = items.at(-1) ?? { account_id: 0 };
  const created = await control(`/accounts/${account_id}/keys`, { body: { scopes: ["research:read"] } });
  expect((await running.ask("/research/rankings?limit=1", { key: created.body["key"] as string })).status).toBe(200);
  const revoked = await control(`/keys/${created.body["key_id"] as string}`, { method: "DELETE" });
  expect(revoked.body["revoked_at"]).toBe(new Date(running.clock.now()).toISOString());
  expect((await running.ask("/research/rankings?limit=1", { key: created.body["key"] as string })).status).toBe(401);
});

test.each([
  ["POST", "/accounts", { tier: "pro", colour: "red" }, "colour"],
  ["POST", "/accounts/x/keys", {}, "account_id"],
  ["POST", "/clock/advance", { months: -1 }, "months"],
  ["POST", "/clock/advance?months=1&months=1", {}, "months"],
  ["POST", "/clock/advance?to=2026-12-24T00:00:00Z&months=1", undefined, "to cannot be combined"],
  ["POST", "/accounts", { tier: "pro", nmae: "x" }, "nmae: is not known (did you mean name?)."],
  ["POST", "/clock/advance?to=2026-02-30T00:00:00Z", undefined, "to: must be a time"],
  ["POST", "/faults/deliveries?registration_id=wh_1&kind=flood", undefined, "kind: must be one of status, latency, "],
  ["POST", "/faults/deliveries?kind=status&value=5", undefined, "registration_id: is required"],
  ["POST", "/accounts?tier=pro&entitlements=api.access&entitlements=all", undefined, "entitlements.1: must be one of"],
  [
    "POST",
    "/signals?signal_type=traffic_breakout&slug=x",
    { period: { start: "2026-10-31", end: "2026-10-01" } },
    "period.end: ",
  ],
  ["POST", "/snapshot", { bytes: "text" }, "bytes: must be bytes"],
])("what makes no sense is refused by name: %s %s %j", async (method, path, body, parameter) => {
  const told = await control(path, { method, ...(body !== undefined && { body }) });
  expect(told.status).toBe(400);
  expect(told.body["error"]).toMatchObject({ message: expect.stringContaining(parameter) });
});

test("a query can give all that is no object, in each operation", async () => {
  interface Property {
    type?: string;
    enum?: string[];
    anyOf?: Property[];
    items?: Property;
    const?: string;
  }
  const textOf = ({ type, enum: values, anyOf, items, const: value }: Property): string => {
    if (items !== undefined) return textOf(items);
    if (anyOf !== undefined) return textOf(anyOf[0] ?? {});
    return value ?? values?.[0] ?? (type === "string" ? "x" : "1");
  };
  const { body } = await control("");
  let asked = 0;
  for (const { method, path, input } of body["operations"] as Listed[]) {
    const kinds = (input.oneOf ?? [input]) as { properties?: Record<string, Property> }[];
    for (const [name, property] of kinds.flatMap(({ properties = {} }) => Object.entries(properties))) {
      if (path.includes(`{${name}}`) || property.type === "object" || name === "bytes") continue;
      // With an unknown parameter nothing is done.
      const query = `${name}=${textOf(property)}&not_known=1`;
      const told = await control(`${path.replace("/_emulator", "").replaceAll(/\{\w+\}/g, "1")}?${query}`, { method });
      const { details } = told.body["error"] as { details: { parameter: string; problem: string }[] };
      const problems = new Map(details.map(({ parameter, problem }) => [parameter, problem]));
      expect([path, told.status]).toEqual([path, 400]);
      const isMisread = /a number|true or false|a list|an object/.test(problems.get(name) ?? "");
      expect([path, name, isMisread]).toEqual([path, name, false]);
      asked++;
    }
  }
  expect(asked).toBeGreaterThan(25);
});

test("a path of the control API that has not this method says which it has", async () => {
  const told = await control("/clock/advance");
  expect([refusal(told), told.headers.get("allow")]).toEqual([{ status: 405, code: "METHOD_NOT_ALLOWED" }, "POST"]);
  const several = await control("/accounts", { method: "DELETE" });
  expect([several.status, several.headers.get("allow")]).toEqual([405, "POST, GET"]);
  expect((await running.ask("/research/rankings", { method: "POST" })).status).toBe(404);
});

test("what is not there gets 404", async () => {
  expect(refusal(await control("/nothing")).status).toBe(404);
  expect(refusal(await control("/accounts/999/keys", { body: {} })).status).toBe(404);
  expect(refusal(await control("/keys/key_x", { method: "DELETE" })).status).toBe(404);
});

test("the address itself sends a browser to the dashboard, and tells all else what runs here", async () => {
  const browser = await fetch(running.emulator.url, { headers: { Accept: "text/html,*/*;q=0.8" }, redirect: "manual" });
  expect([browser.status, browser.headers.get("location")]).toEqual([302, "_emulator/ui/"]);
  const { headers, body } = await askAt(() => running.emulator.url)("/", { headers: { Accept: "*/*" } });
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(body).toMatchObject({
    parts: [
      { path: "/v1" },
      { path: "/mcp" },
      { path: "/openapi.json" },
      { path: "/_emulator" },
      { path: "/_emulator/ui/" },
    ],
  });
});

/** Asks with headers that `fetch` would not send. */
function statusOf(
  headers: Record<string, string>,
  {
    host = "127.0.0.1",
    port = new URL(running.emulator.url).port,
    path = "/_emulator/accounts",
  }: { host?: string | undefined; port?: string; path?: string | undefined } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("the control API answers this machine alone, and no page of another site", async () => {
  const { host } = new URL(running.emulator.url);
  expect(await statusOf({ Host: host })).toBe(200);
  expect(await statusOf({ Host: "localhost:1" })).toBe(200);
  expect(await statusOf({ Host: "[::1]:4010" })).toBe(200);
  expect(await statusOf({ Host: host, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin" })).toBe(200);
  for (const headers of [
    { Host: "rebound.example" },
    { Host: "127.0.0.1.rebound.example" },
    { Host: "localhost.rebound.example:4010" },
    { Host: "rebound.example", Origin: "http://rebound.example" },
    { Host: host, Origin: "http://other.example" },
    { Host: host, Origin: "null" },
    { Host: host, Origin: `https://${host}` },
    { Host: host, "Sec-Fetch-Site": "cross-site" },
    { Host: host, "Sec-Fetch-Site": "same-site" },
  ]) {
    expect(await statusOf(headers), JSON.stringify(headers)).toBe(403);
  }
});

test("the dashboard is open to the same callers, under a strict policy, and its files are found below any path", async () => {
  const { url } = running.emulator;
  const { host } = new URL(url);
  const noSlash = await fetch(`${url}/_emulator/ui`, { redirect: "manual" });
  expect([noSlash.status, noSlash.headers.get("location")]).toEqual([302, "ui/"]);
  const page = await fetch(`${url}/_emulator/ui/`);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "content-security-policy": expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
  });
  const assets = [...(await page.text()).matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(assets.length).toBeGreaterThan(1);
  for (const asset of assets) expect((await fetch(`${url}/_emulator/ui/${asset}`)).status).toBe(200);
  for (const path of ["/_emulator/ui", "/_emulator/ui/", `/_emulator/ui/${assets[0] ?? ""}`]) {
    for (const headers of [{ Host: "rebound.example" }, { Host: host, "Sec-Fetch-Site": "cross-site" }]) {
      expect([path, await statusOf(headers, { path })]).toEqual([path, 403]);
    }
  }
  for (const path of ["assets/style.css", "assets/..%2Fdashboard.js", "assets/", "index.html"]) {
    expect([path, (await fetch(`${url}/_emulator/ui/${path}`)).status]).toEqual([path, 404]);
  }
});

test("what stands in for the dashboard takes no API key [authentication/session-tokens]", async () => {
  const { key } = await running.account("enterprise");
  expect(refusal(await control("/accounts", { key }))).toEqual({ status: 403, code: "API_KEY_NOT_ALLOWED" });
});

test("the clock goes forward by spans and to moments, and never back", async () => {
  const own = await startEmulator();
  const { advance, now } = own.emulator.control;
  expect((await now()).now).toBe(new Date(BEGINNING).toISOString());
  expect((await advance({ hours: 1, minutes: 1, seconds: 1, ms: 1 })).now).toBe("2026-10-31T21:01:01.001Z");
  // A month that has no such day ends on its last one.
  expect((await advance({ months: 1 })).now).toBe("2026-11-30T21:01:01.001Z");
  expect((await advance({ to: "2027-01-01T01:00:00+01:00" })).now).toBe("2027-01-01T00:00:00.000Z");
  await expect(advance({ to: "2026-12-31T00:00:00Z" })).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
  await expect(advance({ months: 121 })).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
  expect((await now()).now).toBe("2027-01-01T00:00:00.000Z");
  await own.clock.advance(5000);
  expect((await now()).now).toBe("2027-01-01T00:00:05.000Z");
});

test("a moved clock tells what was sent on the way, and what it paused", async () => {
  const own = await startEmulator({
    assumptions: { allowLoopbackHttp: true, pauseAfterFailures: 3, retrySeconds: "60,60,60" },
  });
  const { key, accountId } = await own.account("pro");
  const { body } = await own.ask("/research/rankings?limit=1", { key });
  const slug = (body["items"] as { slug: string }[])[0]?.slug ?? "";
  await own.emulator.control.follow({ account_id: accountId, slugs: [slug] });
  const register = async (status: number): Promise<string> => {
    const { url } = await serveEndpoint((_request, response) => void response.writeHead(status).end());
    const hook = { url, signal_types: ["price_increased"] };
    return (await own.ask("/alerts/webhooks", { key, body: hook })).body["id"] as string;
  };
  await register(200);
  const failing = await register(500);
  const { advance, publishSignal } = own.emulator.control;
  expect(await advance({ seconds: 1 })).toMatchObject({
    signals_published: 0,
    deliveries: { created: 0, delivered: 2, failed: 0, expired: 0, waiting: 0 },
    registrations_paused: [],
  });
  await publishSignal({ signal_type: "price_increased", slug });
  expect(await advance({ seconds: 1 })).toMatchObject({
    deliveries: { created: 0, delivered: 1, failed: 0, expired: 0, waiting: 1 },
    registrations_paused: [],
  });
  expect(await advance({ minutes: 10 })).toMatchObject({
    deliveries: { delivered: 0, failed: 0, expired: 0, waiting: 1 },
    registrations_paused: [failing],
  });
  const { signals_published, deliveries } = await advance({ days: 2 });
  expect([signals_published > 100, deliveries.expired, deliveries.waiting]).toEqual([true, 1, 0]);

  const database = new Database(await own.emulator.control.snapshot());
  const kept = database
    .prepare("SELECT state, deliveries FROM delivery_count WHERE deliveries > 0 ORDER BY state")
    .all();
  const counted = "SELECT state, count(*) AS deliveries FROM delivery GROUP BY state ORDER BY state";
  expect(kept).toEqual(database.prepare(counted).all());
  expect(kept).toHaveLength(2);
  database.close();
});

test("a page of the receiver's inbox is served below /_emulator/inbox/ to callers of the control API alone", async () => {
  const seen: string[] = [];
  const { emulator } = await startEmulator({
    controlToken: "token_of_this_test",
    inboxPage({ method, url }, response) {
      seen.push(`${method} ${url}`);
      response.end("{}");
    },
  });
  const headers = { Authorization: "Bearer token_of_this_test" };
  const at = askAt(() => `${emulator.url}/_emulator`);
  expect((await at("/inbox/api/event?id=e")).status).toBe(401);
  expect((await at("/inbox/api/event?id=e", { headers })).status).toBe(200);
  await at("/inbox/api/replay", { method: "POST", headers, body: { eventIds: [] } });
  await at("/inboxes", { headers });
  expect(seen).toEqual(["GET /api/event?id=e", "POST /api/replay"]);
  expect((await control("/inbox/api/event?id=e")).status).toBe(404);
});

test("what onEvent throws is logged, and stops neither the emulator nor the events after it", async () => {
  const events: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const own = await startEmulator({
    logger,
    onEvent({ event }) {
      events.push(event);
      throw new Error("the listener is broken");
    },
  });
  const { key } = await own.account("pro");
  const hook = { url: "https://receiver.example/hook", signal_types: ["price_increased"] };
  expect((await own.ask("/alerts/webhooks", { key, body: hook })).status).toBe(201);
  await own.emulator.control.advance({ ms: 1 });
  expect(events).toEqual(["registered", "refused", "clock_moved"]);
  expect(lines.filter(({ msg }) => msg === "onEvent threw")).toHaveLength(3);
});

const elsewhere = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.internal === false && each.family === "IPv4")?.address;

test.skipIf(elsewhere === undefined)("without a token the control API answers no caller from the network", async () => {
  const own = await startEmulator({ host: "0.0.0.0" });
  const { port } = new URL(own.emulator.url);
  expect((await fetch(`http://${elsewhere ?? ""}:${port}/openapi.json`)).status).toBe(200);
  for (const host of [`${elsewhere ?? ""}:${port}`, `localhost:${port}`]) {
    expect([host, await statusOf({ Host: host }, { host: elsewhere, port })]).toEqual([host, 403]);
  }
});

test("with a token the control API answers each caller that has it, from anywhere, and no other", async () => {
  const controlToken = "a-token-for-the-control-api";
  const own = await startEmulator({ host: "0.0.0.0", controlToken });
  const { key } = await own.account("pro");
  const { port } = new URL(own.emulator.url);
  const ask = (headers: Record<string, string>, path?: string) =>
    statusOf({ Host: "emulator:4010", ...headers }, { host: elsewhere ?? "127.0.0.1", port, path });
  const right = { Authorization: `Bearer ${controlToken}` };
  expect(await ask(right)).toBe(200);
  expect(await ask(right, "/_emulator")).toBe(200);
  // A browser cannot send the token when it opens a page. The page itself holds no data.
  expect(await ask({}, "/_emulator/ui/")).toBe(200);
  expect(await ask({ ...right, Origin: "http://other.example" })).toBe(200);
  const wrong = [key, `${controlToken}x`, controlToken.slice(1), ""].map((token) => ({
    Authorization: `Bearer ${token}`,
  }));
  for (const headers of [{}, ...wrong, { Authorization: controlToken }, { Host: `127.0.0.1:${port}` }]) {
    for (const path of ["/_emulator/accounts", "/_emulator", "/_emulator/snapshot", "/_emulator/clock/advance"]) {
      expect([headers, path, await ask(headers, path)]).toEqual([headers, path, 401]);
    }
  }
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
});

test("a snapshot brings everything back: keys, quota, tasks, the data and the clock", async () => {
  const own = await startEmulator();
  const { key } = await own.account("developer");
  const left = async () => (await own.ask("/research/rankings?limit=1", { key })).headers.get("x-quota-remaining");
  expect(await left()).toBe("49");
  const bytes = await own.emulator.control.snapshot();
  const again = await own.emulator.control.snapshot();
  expect(Buffer.compare(bytes, again)).toBe(0);

  expect(await left()).toBe("48");
  await own.emulator.control.advance({ months: 2 });
  const { key: later } = await own.account("pro");
  await own.emulator.control.loadSnapshot({ bytes });
  expect((await own.emulator.control.now()).now).toBe(new Date(BEGINNING).toISOString());
  expect((await own.ask("/research/rankings", { key: later })).status).toBe(401);
  expect(await left()).toBe("48");
  expect(await own.ask("/research/rankings?limit=1", { key })).toMatchObject({ status: 200 });
});

test("a snapshot over HTTP is bytes, both ways, and bytes that are none change nothing", async () => {
  const own = await startEmulator();
  const { key } = await own.account("pro");
  const response = await fetch(`${own.emulator.url}/_emulator/snapshot`);
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  const bytes = Buffer.from(await response.arrayBuffer());
  await own.emulator.control.reset();
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(401);
  const load = (body: Uint8Array): Promise<Response> =>
    fetch(`${own.emulator.url}/_emulator/snapshot`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: Buffer.from(body),
    });
  expect((await load(bytes)).status).toBe(200);
  const damaged = Buffer.from(bytes).fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 65_536);
  for (const wrong of [Buffer.from("x"), bytes.subarray(0, 5000), damaged, Buffer.alloc(4096)]) {
    expect((await load(wrong)).status).toBe(400);
  }
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
});

test("a snapshot with other tables, triggers or views than ours is refused, and changes nothing", async () => {
  const { control: methods } = running.emulator;
  const bytes = await methods.snapshot();
  const { items } = await methods.listAccounts();
  for (const sql of [
    "CREATE TRIGGER mine AFTER INSERT ON account BEGIN DELETE FROM api_key; END",
    "CREATE VIEW mine AS SELECT * FROM account",
    "DROP TABLE attempt",
    "DROP TABLE setting",
    "DROP TRIGGER delivery_changed",
    "ALTER TABLE account ADD COLUMN mine TEXT",
  ]) {
    const database = new Database(bytes);
    database.exec(sql);
    const changed = database.serialize();
    database.close();
    const refused = methods.loadSnapshot({ bytes: changed });
    await expect(refused, sql).rejects.toMatchObject({
      code: "INVALID_BODY",
      message: expect.not.stringContaining("disk"),
    });
  }
  expect((await methods.listAccounts()).items).toEqual(items);
});

test("a reset goes back to the seeded beginning, and keeps the address", async () => {
  const own = await startEmulator({
    accounts: [{ name: "First", tier: "pro", key: "sbk_a_key_that_is_always_the_same" }],
  });
  const { url } = own.emulator;
  const first = "sbk_a_key_that_is_always_the_same";
  const ranked = async () => (await own.ask("/research/rankings?limit=50", { key: first })).body["items"];
  const before = await ranked();
  const { key } = await own.account("pro");
  await own.emulator.control.advance({ months: 1 });
  expect(await ranked()).not.toEqual(before);
  await own.emulator.control.reset();
  expect([own.emulator.url, (await own.emulator.control.now()).now]).toEqual([url, new Date(BEGINNING).toISOString()]);
  expect((await own.ask("/research/rankings", { key })).status).toBe(401);
  expect(await ranked()).toEqual(before);
});

test("calls that run while the state is replaced are answered by one of both, with no 500", async () => {
  const own = await startEmulator({
    accounts: [{ name: "First", tier: "pro", key: "sbk_a_key_that_is_always_the_same" }],
  });
  const key = "sbk_a_key_that_is_always_the_same";
  const calls = Array.from({ length: 40 }, () => own.ask("/research/rankings?limit=1", { key }));
  const resets = [own.emulator.control.reset(), own.emulator.control.reset()];
  const statuses = new Set((await Promise.all(calls)).map(({ status }) => status));
  await Promise.all(resets);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
});

test("an operation can be told to answer 503, for some calls or until it is told otherwise [error-statuses/503] [start-investigation-notes/not-activated]", async () => {
  const { key } = await running.account("pro");
  const ask = async () => refusal(await running.ask("/research/rankings?limit=1", { key }));
  const { setOperationFault, clearOperationFault } = running.emulator.control;
  await setOperationFault({ operation: "rankings", code: "DATA_UNAVAILABLE", calls: 2 });
  expect([await ask(), await ask(), (await ask()).status]).toEqual([
    { status: 503, code: "DATA_UNAVAILABLE" },
    { status: 503, code: "DATA_UNAVAILABLE" },
    200,
  ]);
  await setOperationFault({ operation: "startInvestigation", code: "FEATURE_NOT_ACTIVATED" });
  const start = {
    body: { slug: "x", idempotency_key: "3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c0001", confirm_usage: true },
    key,
  };
  expect(refusal(await running.ask("/research/promotion-investigations", start))).toEqual({
    status: 503,
    code: "FEATURE_NOT_ACTIVATED",
  });
  await clearOperationFault({ operation: "startInvestigation" });
  expect((await running.ask("/research/promotion-investigations", start)).status).toBe(404);
  await expect(setOperationFault({ operation: "productProfile", code: "DATA_UNAVAILABLE" } as never)).rejects.toThrow();
});

test.each([
  ["a text of 20 MB", JSON.stringify("x".repeat(20_000_000))],
  ["a text of 900 KB", JSON.stringify("x".repeat(900_000))],
  [
    "80,000 unknown keys",
    JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, key) => [`k${key}`, 1]))),
  ],
])("a body of %s is refused in a short answer", async (_what, body) => {
  const refused = await control("/accounts", { body });
  expect(refused.status).toBe(400);
  expect(refused.text.length).toBeLessThan(2000);
});

test("what the path says is not said again by the query or the body", async () => {
  const own = await startEmulator();
  const asControl = askAt(() => `${own.emulator.url}/_emulator`);
  const [first, second] = [await own.account("pro"), await own.account("pro")];
  const path = `/accounts/${first.accountId}/keys`;
  const asked = [
    await asControl(path, { body: { account_id: second.accountId } }),
    await asControl(`${path}?account_id=${second.accountId}`),
  ];
  for (const { status, body } of asked) {
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { message: "account_id: is given more than once." } });
  }
  expect((await own.emulator.control.listKeys({ account_id: second.accountId })).items).toHaveLength(1);
});
