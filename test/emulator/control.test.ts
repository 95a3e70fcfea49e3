import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
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
  expect(operations.map(({ name }) => name).sort()).toEqual(
    Object.keys(running.emulator.control).sort(),
  );
  for (const { path, about, input } of operations) {
    expect(path).toMatch(/^\/_emulator\/[a-z]/);
    expect(about, path).toMatch(/^[A-Z].*\.$/);
    expect(input.type === "object" || Array.isArray(input.oneOf), path).toBe(true);
  }
  const routes = operations.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(routes).size).toBe(routes.length);
});

test("a body over the limit is read to its end, so that a client that writes it first gets the 400", async () => {
  const socket = connect(Number(new URL(running.emulator.url).port), "127.0.0.1");
  const body = "x".repeat(16 * 1024 * 1024);
  const head = [
    "POST /_emulator/accounts HTTP/1.1",
    "Host: localhost",
    `Content-Length: ${body.length}`,
  ];
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject).write(`${head.join("\r\n")}\r\n\r\n${body}`, () => resolve());
  });
  const answer = Buffer.concat(await socket.toArray()).toString();
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*^Connection: close\r$.*at most 1048576 bytes/ms);
});

test("the address itself sends a browser to the dashboard, and tells all else what runs here", async () => {
  const browser = await fetch(running.emulator.url, {
    headers: { Accept: "text/html,*/*;q=0.8" },
    redirect: "manual",
  });
  expect([browser.status, browser.headers.get("location")]).toEqual([302, "_emulator/ui/"]);
});

/** Asks with headers that `fetch` would not send. */
function statusOf(
  headers: Record<string, string | string[]>,
  {
    host = "127.0.0.1",
    port = new URL(running.emulator.url).port,
    path = "/_emulator/accounts",
    method = "GET",
  }: { host?: string | undefined; port?: string; path?: string | undefined; method?: string } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("without a token, control API and dashboard answer this machine alone, and no page of another site [authentication/session-tokens]", async () => {
  const { host } = new URL(running.emulator.url);
  const own = { Host: host };
  expect(
    await statusOf({ ...own, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin" }),
  ).toBe(200);
  for (const path of ["/_emulator/accounts", "/_emulator", "/_emulator/ui/"]) {
    for (const headers of [
      { Host: "rebound.example", Origin: "http://rebound.example" },
      { ...own, Via: "1.1 proxy" },
      { ...own, Origin: "http://other.example" },
      { ...own, Origin: `https://${host}` },
      { ...own, "Sec-Fetch-Site": "cross-site" },
    ]) {
      expect([path, headers, await statusOf(headers, { path })]).toEqual([path, headers, 403]);
    }
  }
  const { key } = await running.account("enterprise");
  expect(refusal(await control("/accounts", { key }))).toEqual({
    status: 403,
    code: "API_KEY_NOT_ALLOWED",
  });
});

test("the remote MCP answers this machine's names alone", async () => {
  const statusAt = (Host: string) => statusOf({ Host }, { path: "/mcp", method: "POST" });
  for (const host of ["other.example", "localhost.example", "127.0.0.1.example", "0.0.0.0"])
    expect([host, await statusAt(host)]).toEqual([host, 403]);
  // These get to the check of the key.
  for (const host of ["localhost", "LOCALHOST:9", "127.1.2.3:80", "[::1]:4010"])
    expect([host, await statusAt(host)]).toEqual([host, 401]);
});

test("of a key only a hash and its beginning are kept [authentication/bearer-keys]", async () => {
  const { key } = await running.account("pro");
  expect((await running.emulator.control.snapshot()).includes(key.slice(12))).toBe(false);
});

test("the dashboard has a strict policy, and its files are found below any path", async () => {
  const { url } = running.emulator;
  const noSlash = await fetch(`${url}/_emulator/ui`, { redirect: "manual" });
  expect([noSlash.status, noSlash.headers.get("location")]).toEqual([302, "ui/"]);
  const page = await fetch(`${url}/_emulator/ui/`);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "content-security-policy": expect.stringMatching(
      /^default-src 'none';.*frame-ancestors 'none'$/,
    ),
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
  });
  const assets = [...(await page.text()).matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(assets.length).toBeGreaterThan(1);
  for (const asset of assets)
    expect((await fetch(`${url}/_emulator/ui/${asset}`)).status).toBe(200);
  for (const path of ["assets/style.css", "assets/..%2Fdashboard.js", "index.html"]) {
    expect([path, (await fetch(`${url}/_emulator/ui/${path}`)).status]).toEqual([path, 404]);
  }
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

test("a stream tells callers of the control API of each change and of the time, and ends with the emulator", async () => {
  const { emulator, clock } = await openEmulator({ controlToken: "token_of_this_test" });
  const stream = `${emulator.url}/_emulator/changes`;
  expect((await fetch(stream)).status).toBe(401);
  const { body } = await fetch(stream, { headers: { Authorization: "Bearer token_of_this_test" } });
  const reader = (body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const next = async (): Promise<unknown> =>
    JSON.parse((await reader.read()).value ?? "null") as unknown;
  expect(await next()).toEqual({ now: BEGINNING, hasChanged: true });
  await emulator.control.createAccount({ tier: "pro" });
  expect(await next()).toEqual({ now: BEGINNING, hasChanged: true });
  await clock.advance(5000);
  expect(await next()).toEqual({ now: BEGINNING + 5000, hasChanged: false });
  const [last] = await Promise.all([reader.read(), emulator.close()]);
  expect(last.done).toBe(true);
});

test("what onEvent throws is logged, and stops neither the emulator nor the events after it", async () => {
  const events: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    {},
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
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

test.skipIf(elsewhere === undefined)(
  "without a token the control API answers no caller from the network",
  async () => {
    const own = await startEmulator({ host: "0.0.0.0" });
    const { port } = new URL(own.emulator.url);
    expect((await fetch(`http://${elsewhere ?? ""}:${port}/openapi.json`)).status).toBe(200);
    for (const host of [`${elsewhere ?? ""}:${port}`, `localhost:${port}`]) {
      expect([host, await statusOf({ Host: host }, { host: elsewhere, port })]).toEqual([
        host,
        403,
      ]);
    }
  },
);

test("with a token the control API answers each caller that has it, from anywhere, and no other", async () => {
  const controlToken = "a-token-for-the-control-api";
  const own = await startEmulator({ host: "0.0.0.0", controlToken });
  const { key } = await own.account("pro");
  const { port } = new URL(own.emulator.url);
  const ask = (headers: Record<string, string | string[]>, path?: string) =>
    statusOf({ Host: "emulator:4010", ...headers }, { host: elsewhere ?? "127.0.0.1", port, path });
  const right = { Authorization: `Bearer ${controlToken}` };
  expect(await ask(right)).toBe(200);
  expect(await ask(right, "/_emulator")).toBe(200);
  // A browser cannot send the token when it opens a page. The page itself holds no data.
  expect(await ask({}, "/_emulator/ui/")).toBe(200);
  expect(await ask({ ...right, Origin: "http://other.example" })).toBe(200);
  const wrong = [key, `${controlToken}x`, controlToken.slice(1)].map((token) => ({
    Authorization: `Bearer ${token}`,
  }));
  const twice = { Authorization: [right.Authorization, `Bearer ${key}`] };
  for (const headers of [
    ...wrong,
    twice,
    { Authorization: controlToken },
    { Host: `127.0.0.1:${port}` },
  ]) {
    for (const path of ["/_emulator/accounts", "/_emulator", "/_emulator/clock/advance"]) {
      expect([headers, path, await ask(headers, path)]).toEqual([headers, path, 401]);
    }
  }
  expect((await own.ask("/research/rankings?limit=1", { key })).status).toBe(200);
});
