import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createClient } from "../../../../src/service/client/index.js";
import { errorOf } from "../../signalbox-error-of.js";
import { profile, rankingsPage, refusal } from "./answers.js";
import { API_KEY, clientOn, failureOf } from "./client-on.js";
import { serveAnswers } from "./serve-answers.js";
import { TIMEOUT_MS } from "./watched-clock.js";

const PAGE = { json: rankingsPage(1, false) };

/** All that a log could make of an error. */
const shown = (error: Error): string =>
  [
    inspect(error, { depth: 9, showHidden: true }),
    JSON.stringify(error),
    String(error),
    error.stack,
  ].join("\n");

test.each([
  ["", "empty"],
  [`${API_KEY}\n`, "line break"],
  ["key with spaces", "space"],
  [42, "text"],
])("the key %j is refused at construction, and not quoted", (apiKey, said) => {
  const error = errorOf(() =>
    createClient({ baseUrl: "https://service.example/v1", apiKey: apiKey as string }),
  );
  expect([error.code, error.message.includes(said)]).toEqual(["option_invalid", true]);
  expect(shown(error)).not.toContain(API_KEY);
});

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
    expect(shown(error)).not.toContain(API_KEY);
  },
);

test("without a key the public profile is read, and nothing else is sent", async () => {
  const { baseUrl, seen } = await serveAnswers({ json: profile });
  const { client } = clientOn(baseUrl, { apiKey: undefined });
  await client.productProfile("larkvoice");
  expect(seen[0]?.headers.authorization).toBeUndefined();
  const error = await failureOf(client.searchDemand());
  expect([error.kind, error.help, seen.length]).toEqual([
    "api_key",
    "Give createClient an apiKey.",
    1,
  ]);
});

test("the key is in no error, even if the service, a proxy or the user's fetch repeats it", async () => {
  const echo = refusal(401, API_KEY, {
    details: { headers: { authorization: `Bearer ${API_KEY}` } },
  });
  const { baseUrl } = await serveAnswers(
    {
      ...echo,
      json: {
        error: { code: API_KEY, message: `Bearer ${API_KEY} is wrong`, details: [API_KEY] },
        request_id: API_KEY,
      },
    },
    { status: 418, body: API_KEY, headers: { "X-Request-Id": API_KEY } },
    { json: { echo: API_KEY }, headers: { "X-Request-Id": `of-${API_KEY}` } },
    { body: API_KEY, headers: { "Content-Type": API_KEY } },
    { status: 307, headers: { Location: `https://elsewhere.example/?key=${API_KEY}` } },
  );
  const { client } = clientOn(baseUrl);
  for (let call = 0; call < 5; call++)
    expect(shown(await failureOf(client.rankings()))).not.toContain(API_KEY);

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
  expect(shown(error)).not.toContain(API_KEY.slice(0, 8));
});

test("a short key is not cut out of words", async () => {
  const { baseUrl } = await serveAnswers(refusal(404, "PRODUCT_NOT_FOUND"));
  const error = await failureOf(clientOn(baseUrl, { apiKey: "T" }).client.rankings());
  expect(error.code).toBe("PRODUCT_NOT_FOUND");
});

test("the client shows no key", () => {
  const { client } = clientOn("https://service.example/v1");
  expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(API_KEY);
  expect(JSON.stringify(client)).toBe("{}");
});

test("a key that the service's error repeats with escapes is in no part of the error", async () => {
  const key = 'key/with"quotes/and\\more';
  const message = JSON.stringify(`your key ${key}`).replaceAll("/", String.raw`\/`);
  const body = `{"error":{"code":"X","message":${message},"details":{"keys":[${message}],${message}:1}},"request_id":"r_1"}`;
  const { baseUrl } = await serveAnswers({ status: 403, body });
  const error = await failureOf(clientOn(baseUrl, { apiKey: key }).client.rankings());
  expect([error.code, error.message.includes("[API key]")]).toEqual(["X", true]);
  expect(error.details).toEqual({ keys: ["your key [API key]"], "your key [API key]": 1 });
  expect(shown(error)).not.toContain("/and");
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
