import { expect, test } from "vitest";
import type { Client } from "../../../../src/service/client/index.js";
import { OPERATIONS } from "../../../../src/service/contract/operations.js";
import {
  demandPage,
  profile,
  rankingsPage,
  refusal,
  registration,
  task,
  TASK_ID,
} from "./answers.js";
import { API_KEY, clientOn, failureOf } from "./client-on.js";
import { serveAnswers } from "./serve-answers.js";

test("each of the six operations is sent as the document has it, and gives what was answered, unknown fields too", async () => {
  const bodies = [
    { ...task(), added_later: 1 },
    task(),
    { ...registration, signal_types: ["a_type_of_next_year"] },
    { ...profile, added_later: { deep: [1] } },
    demandPage(2, false),
    rankingsPage(1, false),
  ];
  const { baseUrl, seen } = await serveAnswers(
    { status: 202, json: bodies[0] },
    { json: bodies[1] },
    { status: 201, json: bodies[2] },
    ...bodies.slice(3).map((json) => ({ json })),
  );
  const { client } = clientOn(baseUrl);
  const idempotencyKey = "01890a5d-ac96-774b-bcce-b302099a8057";
  const answers = [
    await client.startInvestigation({
      slug: "larkvoice",
      locale: "zh-CN",
      idempotencyKey,
      confirmUsage: true,
    }),
    await client.readInvestigation(TASK_ID),
    await client.registerWebhook({
      url: "https://receiver.example/signals",
      signal_types: ["price_increased"],
    }),
    await client.productProfile("larkvoice", { locale: "zh-CN" }),
    await client.searchDemand({
      q: "a&b c",
      min_products: 5,
      page: 2,
      keyword_id: 0,
      market: undefined,
    }),
    await client.rankings({ country: "de", min_growth: 0.1, sort: "ai" }),
  ];
  expect(answers).toEqual(bodies);
  const sent = seen.map(({ method, path, body }) => [
    method,
    path,
    body === "" ? null : JSON.parse(body),
  ]);
  expect(sent).toEqual([
    [
      "POST",
      "/v1/research/promotion-investigations",
      { slug: "larkvoice", locale: "zh-CN", idempotency_key: idempotencyKey, confirm_usage: true },
    ],
    ["GET", `/v1/research/promotion-investigations/${TASK_ID}`, null],
    [
      "POST",
      "/v1/alerts/webhooks",
      { url: "https://receiver.example/signals", signal_types: ["price_increased"] },
    ],
    ["GET", "/v1/tools/larkvoice?locale=zh-CN", null],
    ["GET", "/v1/research/search-demand?q=a%26b+c&min_products=5&page=2&keyword_id=0", null],
    ["GET", "/v1/research/rankings?country=de&min_growth=0.1&sort=ai", null],
  ]);
  expect(sent).toHaveLength(Object.keys(OPERATIONS).length);
  for (const { method, headers } of seen) {
    expect(headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      accept: "application/json",
    });
    expect(headers["content-type"]).toBe(method === "POST" ? "application/json" : undefined);
  }
});

test("a name in a path reaches no other operation", async () => {
  const { baseUrl, seen } = await serveAnswers({ json: profile });
  const { client } = clientOn(baseUrl);
  await client.productProfile("../research/rankings?x=1#y");
  expect(seen.map(({ path }) => path)).toEqual(["/v1/tools/..%2Fresearch%2Frankings%3Fx%3D1%23y"]);
  for (const slug of ["", ".", "..", "half \ud83d", undefined, 7]) {
    const error = await failureOf(client.productProfile(slug as string));
    expect([error.kind, error.operation]).toEqual(["invalid_request", "productProfile"]);
  }
  for (const call of [client.readInvestigation(".."), client.waitForInvestigation("")]) {
    expect((await failureOf(call)).kind).toBe("invalid_request");
  }
  expect(seen).toHaveLength(1);
});

test.each([
  ["limit", { limit: 51 }],
  ["country", { country: "deu" }],
  ["min_growth", { min_growth: Number.NaN }],
])("an invalid %s is not sent, and the message names it", async (name, query) => {
  const { baseUrl, seen } = await serveAnswers({ json: rankingsPage(1, false) });
  const error = await failureOf(clientOn(baseUrl).client.rankings(query));
  expect([error.kind, error.status, error.attempts]).toEqual(["invalid_request", null, 0]);
  expect(error.message).toContain(`"${name}"`);
  expect(seen).toHaveLength(0);
});

test("a parameter or an option that does not exist is refused by name, with the near miss", async () => {
  const { client } = clientOn("http://127.0.0.1:9/v1");
  const misspelt = await failureOf(client.searchDemand({ markt: "speech" } as never));
  expect(misspelt.help).toContain('"market"');
  const snake = await failureOf(
    client.startInvestigation({ slug: "a", idempotency_key: "x" } as never),
  );
  expect(snake.help).toContain('"idempotencyKey"');
  const inProfile = await failureOf(client.productProfile("a", { local: "en" } as never));
  expect(inProfile.help).toContain('"locale"');
  const option = await failureOf(client.waitForInvestigation(TASK_ID, { timeOutMs: 500 } as never));
  expect(option.help).toContain('"timeoutMs"');
  const signal = await failureOf(client.rankings({}, { sgnal: undefined } as never));
  expect(signal).toMatchObject({ kind: "invalid_request", operation: "rankings" });
});

test.each<[name: string, call: (client: Client, no: never) => Promise<unknown>]>([
  ["startInvestigation", (client, no) => client.startInvestigation(no)],
  ["productProfile", (client, no) => client.productProfile("a", no)],
  ["searchDemand", (client, no) => client.searchDemand(no)],
  ["rankingsItems", (client, no) => client.rankingsItems(no).next()],
  ["waitForInvestigation", (client, no) => client.waitForInvestigation(TASK_ID, no)],
])(
  "null in place of an object rejects with a ClientError, and nothing is sent: %s",
  async (_name, call) => {
    const { baseUrl, seen } = await serveAnswers({ json: rankingsPage(1, false) });
    const { client } = clientOn(baseUrl);
    const error = await failureOf(Promise.resolve().then(() => call(client, null as never)));
    expect([error.kind, seen.length]).toEqual(["invalid_request", 0]);
  },
);

test("an investigation is not started without agreement to the use of the allowance", async () => {
  const { baseUrl, seen } = await serveAnswers({ status: 202, json: task() });
  const { client } = clientOn(baseUrl);
  for (const confirmUsage of [undefined, false, "true", 1]) {
    const error = await failureOf(
      client.startInvestigation({ slug: "larkvoice", confirmUsage } as never),
    );
    expect(error.message).toContain('"confirmUsage"');
  }
  expect(seen).toHaveLength(0);
});

test("each start has an idempotency key of its own, a UUID", async () => {
  const { baseUrl, seen } = await serveAnswers({ status: 202, json: task() });
  const { client } = clientOn(baseUrl);
  for (let start = 0; start < 2; start++)
    await client.startInvestigation({ slug: "larkvoice", confirmUsage: true });
  const keys = seen.map(
    ({ body }) => (JSON.parse(body) as { idempotency_key: string }).idempotency_key,
  );
  expect(new Set(keys).size).toBe(2);
  for (const key of keys)
    expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("the quota is that of the last answer with its headers, a refusal too, and null before", async () => {
  const headers = {
    "X-Quota-Limit": "50",
    "X-Quota-Remaining": "49",
    "X-Quota-Reset": "2026-12-01T00:00:00Z",
  };
  const refused = refusal(403, "SCOPE_INSUFFICIENT", {
    headers: { ...headers, "X-Quota-Remaining": "48" },
  });
  const { baseUrl } = await serveAnswers(
    { json: rankingsPage(1, false), headers },
    { json: profile },
    refused,
  );
  const { client } = clientOn(baseUrl);
  expect(client.quota()).toBeNull();
  await client.rankings();
  await client.productProfile("larkvoice");
  const resetAt = new Date("2026-12-01T00:00:00Z");
  expect(client.quota()).toEqual({ limit: 50, remaining: 49, policy: null, resetAt });
  await failureOf(client.rankings());
  expect(client.quota()?.remaining).toBe(48);
});
