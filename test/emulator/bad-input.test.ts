import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorEnvelopeSchema } from "../../src/service/contract/error-envelope.js";
import { openEmulator, type Asked, type RunningEmulator } from "./start-emulator.js";

let running: RunningEmulator;
let key: string;
beforeAll(async () => {
  running = await openEmulator();
  ({ key } = await running.account("pro"));
});
afterAll(() => running.emulator.close());

const START = "/research/promotion-investigations";
const WEBHOOKS = "/alerts/webhooks";
const UUID = "3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c0001";
const right = { slug: "acme", idempotency_key: UUID, confirm_usage: true };

/** What calls of the API can change. */
const state = async (): Promise<object[]> => {
  const { control } = running.emulator;
  return Promise.all([
    control.listAccounts(),
    control.listRegistrations({}),
    control.listInvestigations({}),
  ]);
};

/** Bytes that are no body of any operation. */
const NO_BODIES: readonly (string | Uint8Array)[] = [
  "",
  "null",
  "[]",
  "{'slug':'acme'}",
  `\uFEFF${JSON.stringify(right)}`,
  JSON.stringify(right).replace("}", ',"__proto__":{"confirm_usage":true}}'),
  "[".repeat(60_000),
  `{"slug":"${"x".repeat(70_000)}"}`,
  Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
  "slug=acme&confirm_usage=true",
];

const QUERIES = [
  "limit=",
  "limit=1e1",
  "page=1&page=2",
  "__proto__=1",
  "constructor=1",
  "a[b]=1",
  "limit=1;page=1",
];

// What the schemas refuse is in test/unit/api and, at random, in test/properties. Here are bytes,
// types and queries that no schema sees.
const CASES: readonly (readonly [path: string, how: Asked])[] = [
  ...NO_BODIES.flatMap((body) => [START, WEBHOOKS].map((path) => [path, { body }] as const)),
  [START, { body: { ...right, constructor: 1 } }],
  [
    WEBHOOKS,
    { body: { url: "https://example.com/hook", signal_types: ["new_model"], secret: "x" } },
  ],
  ...QUERIES.map((query) => [`/research/rankings?${query}`, {}] as const),
  ...["text/plain", "application/jsonp", "application/json; charset=utf-16", ""].map(
    (type) => [START, { body: right, headers: { "Content-Type": type } }] as const,
  ),
  [START, { body: right, headers: { "Content-Encoding": "gzip" } }],
  [`${START}?slug=acme`, { body: right }],
  [`${START}/task_00000000-0000-4000-8000-000000000000?x=1`, {}],
];

test("input that is not well-formed gets 400 with the envelope, and changes nothing [error-statuses/400] [start-investigation-notes/unknown-keys] [register-webhook-notes/unknown-keys]", async () => {
  const before = await state();
  const odd: unknown[] = [];
  for (const [path, how] of CASES) {
    // A key of its own for each: so many requests would be too many for one.
    const { key: fresh } = await running.emulator.control.createKey({ account_id: 1 });
    const told = await running.ask(path, {
      ...how,
      key: fresh,
      method: how.body === undefined ? "GET" : "POST",
    });
    const isEnvelope = errorEnvelopeSchema.safeParse(told.body).success;
    const hasStack = /\bat .*\.(js|ts)|node:internal|SQLITE|Zod/.test(told.text);
    if (told.status !== 400 || !isEnvelope || hasStack)
      odd.push([path, String(how.body).slice(0, 80), told.status, told.text.slice(0, 200)]);
  }
  expect(odd).toEqual([]);
  expect(await state()).toEqual(before);
}, 120_000);

test("HEAD is no operation of the document: refused without a body, and no call of the quota", async () => {
  const { key: limited } = await running.account("developer");
  const head = await running.ask("/research/rankings?limit=1", { method: "HEAD", key: limited });
  expect([head.status, head.text]).toEqual([404, ""]);
  expect(Number(head.headers.get("content-length"))).toBeGreaterThan(50);
  const { headers } = await running.ask("/research/rankings?limit=1", { key: limited });
  expect(headers.get("x-quota-remaining")).toBe("49");
});

test("every answer has a request id of its own, and tells nothing of what made it", async () => {
  const answers = await Promise.all([
    running.ask("/research/rankings?limit=1", { key }),
    running.ask("/nothing"),
    running.ask("/research/rankings"),
  ]);
  const ids = answers.map(({ headers }) => headers.get("x-request-id") ?? "");
  expect(new Set(ids).size).toBe(3);
  for (const { headers, body, status } of answers) {
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("content-type")).toContain("application/json");
    if (status !== 200) expect(body["request_id"]).toBe(headers.get("x-request-id"));
  }
});

test("an Authorization header that was given twice is refused", async () => {
  const line = ["Authorization", `Bearer ${key}`];
  const headers = ["Host", "127.0.0.1", ...line, ...line];
  const asked = request(`${running.emulator.baseUrl}/research/rankings`, { headers }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(401);
});
