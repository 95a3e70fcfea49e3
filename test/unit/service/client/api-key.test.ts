import { expect, test } from "vitest";
import { rankingsPage } from "./answers.js";
import { API_KEY, clientOn, failureOf } from "./client-on.js";
import { textsOf } from "./play-cases.js";
import { serveAnswers } from "./serve-answers.js";
import { TIMEOUT_MS } from "./watched-clock.js";

const PAGE = { json: rankingsPage(1, false) };

test("a function is asked for each request, so that a new key is used at once", async () => {
  const { baseUrl, seen } = await serveAnswers(PAGE);
  let asked = 0;
  const { client } = clientOn(baseUrl, { apiKey: async () => `key_number_${++asked}` });
  await client.rankings();
  await client.rankings();
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer key_number_1",
    "Bearer key_number_2",
  ]);
});

test.each([
  ["fails", () => Promise.reject(new Error(`vault ${API_KEY}`))],
  ["gives nothing", () => undefined],
  ["gives a line break", () => `${API_KEY}\n`],
])(
  "when the function for the key %s, nothing is sent and nothing of it is quoted",
  async (_, apiKey) => {
    const { baseUrl, seen } = await serveAnswers(PAGE);
    const error = await failureOf(
      clientOn(baseUrl, { apiKey: apiKey as () => string }).client.rankings(),
    );
    expect([error.kind, error.attempts, seen.length]).toEqual(["api_key", 0, 0]);
    expect(textsOf(error)).not.toContain(API_KEY);
  },
);

test("the key is in no error of the user's fetch, which may repeat it in its causes", async () => {
  // Long enough to be shortened in the middle of the key.
  const sent = "sent ".repeat(58);
  const thrown = Object.assign(new Error(`${sent}${API_KEY}`), {
    code: "EODD",
    config: { headers: { Authorization: `Bearer ${API_KEY}` } },
  });
  const fetch = () => Promise.reject(new Error("fetch failed", { cause: thrown }));
  const own = clientOn("https://service.example/v1", { fetch, retry: { maxAttempts: 1 } });
  const error = await failureOf(own.client.rankings());
  expect(error.cause).toMatchObject({ message: `${sent}[API key]`, code: "EODD" });
  expect(textsOf(error)).not.toContain(API_KEY.slice(0, 8));
});

test("a function for the key that never returns is named in the error: nothing was sent", async () => {
  const { baseUrl, seen } = await serveAnswers(PAGE);
  const { client, clock } = clientOn(baseUrl, {
    apiKey: () => new Promise<string>(() => undefined),
  });
  const call = failureOf(
    client.registerWebhook({ url: "https://hooks.example/", signal_types: ["new_model"] }),
  );
  await clock.advance(TIMEOUT_MS);
  const { kind, attempts, retryable, message } = await call;
  expect([kind, attempts, retryable, seen.length]).toEqual(["api_key", 0, false, 0]);
  expect(message).toMatch(/was not sent: the function apiKey took over/);
});

test("of an error that is nested deeper than any stack the status is left", async () => {
  const deep = 100_000;
  const body = `{"error":{"code":"X","message":"m","details":${"[".repeat(deep)}${"]".repeat(deep)}},"request_id":"r_1"}`;
  const { baseUrl } = await serveAnswers({ status: 400, body });
  const error = await failureOf(clientOn(baseUrl).client.rankings());
  expect([error.kind, error.status, error.details]).toEqual(["http", 400, undefined]);
});
