import { expect, test } from "vitest";
import type { Client } from "../../../../src/service/client/index.js";
import { quotaHeaders, rankingsPage, refusal, registration, task } from "./answers.js";
import { clientOn, failureOf } from "./client-on.js";
import { serveAnswers, type Answer } from "./serve-answers.js";
import { createWatchedClock, settleOn } from "./watched-clock.js";

const PAGE = { json: rankingsPage(1, false) };
const NOW = Date.parse("2026-11-21T12:00:00Z");
const hangUp: Answer = (request) => void request.socket.destroy();

/** The result of a call, its requests, and the pauses between them. */
async function outcomeOf(
  answers: readonly [Answer, ...Answer[]],
  call: (client: Client) => Promise<unknown>,
  options: Parameters<typeof clientOn>[1] = {},
) {
  const { baseUrl, seen } = await serveAnswers(...answers);
  const { client, clock } = clientOn(baseUrl, options, createWatchedClock(NOW));
  const result = call(client);
  await settleOn(clock, result);
  return { result, seen, pauses: clock.pauses, clock };
}

const rankings = (client: Client): Promise<unknown> => client.rankings();

test.each([
  ["seconds", "7"],
  ["an HTTP date", "Sat, 21 Nov 2026 12:00:07 GMT"],
])("the client waits as long as Retry-After asks, in %s", async (_, value) => {
  const limited = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": value } });
  const { result, seen, pauses } = await outcomeOf([limited, PAGE], rankings, { random: () => 0 });
  await expect(result).resolves.toMatchObject({ items: [{ rank: 1 }] });
  expect(pauses).toEqual([7000]);
  expect(seen).toHaveLength(2);
});

test.each([
  ["without Retry-After", refusal(429, "RATE_LIMITED")],
  // A free read has these headers too.
  [
    "of an account whose quota is used up",
    refusal(429, "RATE_LIMITED", { headers: quotaHeaders("2026-12-01T00:00:00Z") }),
  ],
])("a 429 %s is a rate limit, and the waits span the window of the limit", async (_, limited) => {
  const { result, pauses } = await outcomeOf([limited], rankings);
  const error = await failureOf(result);
  expect([error.kind, error.status, error.attempts, error.retryAfterMs]).toEqual([
    "rate",
    429,
    4,
    null,
  ]);
  expect(pauses).toEqual([10_000, 20_000, 30_000]);
});

test("jitter takes away at most half of a wait, and none of what the service asked for", async () => {
  const unasked = await outcomeOf([refusal(429, "RATE_LIMITED")], rankings, { random: () => 0 });
  expect(unasked.pauses).toEqual([5000, 10_000, 15_000]);
  const asked = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": "3" } });
  expect((await outcomeOf([asked, PAGE], rankings, { random: () => 0.5 })).pauses).toEqual([3250]);
  await failureOf(unasked.result);
});

test("after a Retry-After of 0 or in the past the client still pauses", async () => {
  for (const value of ["0", "Sat, 21 Nov 2026 11:00:00 GMT"]) {
    const limited = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": value } });
    const { result, pauses } = await outcomeOf([limited, limited, PAGE], rankings, {
      random: () => 0,
    });
    await expect(result).resolves.toBeDefined();
    expect(pauses).toEqual([500, 1000]);
  }
});

test("a Retry-After longer than maxWaitMs fails the call at once", async () => {
  const limited = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": "61" } });
  const { result, seen, pauses } = await outcomeOf([limited, PAGE], rankings);
  const error = await failureOf(result);
  expect(error).toMatchObject({ kind: "rate", retryable: true, retryAfterMs: 61_000, attempts: 1 });
  expect(error.resetAt).toEqual(new Date(NOW + 61_000));
  expect([seen.length, pauses]).toEqual([1, []]);
  const { result: patient } = await outcomeOf([limited, PAGE], rankings, {
    retry: { maxWaitMs: 61_000 },
  });
  await expect(patient).resolves.toBeDefined();
});

test("an exhausted quota is not a rate limit: the call fails at once, with the reset", async () => {
  const exhausted = refusal(429, "PRO_API_QUOTA_EXHAUSTED", {
    headers: quotaHeaders("2026-12-01T00:00:00Z"),
    details: { limit: 50, remaining: 0 },
  });
  const { result, seen } = await outcomeOf([exhausted, PAGE], rankings);
  const error = await failureOf(result);
  const resetAt = new Date("2026-12-01T00:00:00Z");
  expect(error).toMatchObject({
    kind: "quota",
    status: 429,
    code: "PRO_API_QUOTA_EXHAUSTED",
    requestId: "req_17",
    resetAt,
  });
  expect(error.details).toEqual({ limit: 50, remaining: 0 });
  expect(error.quota).toEqual({ limit: 50, remaining: 0, policy: "50;month", resetAt });
  expect(error.message).toContain("2026-12-01T00:00:00.000Z");
  expect(seen).toHaveLength(1);
});

test.each([
  ["behind", -86_400_000],
  ["ahead", 86_400_000],
])(
  "times in an answer are by the service's clock, also when it is %s of the client's",
  async (_name, ahead) => {
    const at = (ms: number): Date => new Date(NOW + ahead + ms);
    const sent = at(0).toUTCString();
    const exhausted = { ...quotaHeaders(at(40_000).toISOString()), Date: sent };
    const limited = { "Retry-After": at(7000).toUTCString(), Date: sent };
    const { result, pauses } = await outcomeOf(
      [
        refusal(429, "PRO_API_QUOTA_EXHAUSTED", { headers: exhausted }),
        refusal(429, "RATE_LIMITED", { headers: limited }),
        PAGE,
      ],
      rankings,
      { random: () => 0 },
    );
    await expect(result).resolves.toBeDefined();
    expect(pauses).toEqual([40_000, 7000]);
  },
);

test("an exhausted quota whose reset is past by the service's clock is not tried again, even if the client's is behind", async () => {
  const resetAt = new Date(NOW + 20_000);
  const headers = {
    ...quotaHeaders(resetAt.toISOString()),
    Date: new Date(NOW + 86_400_000).toUTCString(),
  };
  const { result, seen } = await outcomeOf(
    [refusal(429, "PRO_API_QUOTA_EXHAUSTED", { headers }), PAGE],
    rankings,
  );
  const error = await failureOf(result);
  expect(error).toMatchObject({
    kind: "quota",
    retryable: false,
    retryAfterMs: null,
    attempts: 1,
    resetAt,
  });
  expect(seen).toHaveLength(1);
});

test("an exhausted quota is recognised without its headers, and fails the call at once", async () => {
  const exhausted = refusal(429, "PRO_API_QUOTA_EXHAUSTED", {
    details: { limit: 50, remaining: 0 },
  });
  const error = await failureOf((await outcomeOf([exhausted, PAGE], rankings)).result);
  expect(error).toMatchObject({ kind: "quota", retryable: false, resetAt: null, attempts: 1 });
  expect(error.quota).toMatchObject({ limit: 50, remaining: 0 });
});

test("a limit of the account fails the call at once, unless the service says how long to wait", async () => {
  for (const code of ["ACTIVE_INVESTIGATIONS_EXCEEDED", "REGISTRATIONS_EXCEEDED"]) {
    const error = await failureOf((await outcomeOf([refusal(429, code), PAGE], rankings)).result);
    expect(error).toMatchObject({
      kind: "limit",
      status: 429,
      code,
      retryable: false,
      attempts: 1,
    });
    const again = await outcomeOf(
      [refusal(429, code, { headers: { "Retry-After": "9" } }), PAGE],
      rankings,
    );
    await expect(again.result).resolves.toBeDefined();
    expect(again.pauses).toEqual([9500]);
  }
});

test.each([
  [500, ["unavailable", 4]],
  [503, ["unavailable", 4]],
  [404, ["http", 1]],
  [409, ["http", 1]],
] as const)(
  "a read that is answered %i is %j: its kind and how often it is sent",
  async (status, [kind, attempts]) => {
    const { result, seen } = await outcomeOf([refusal(status, "SOME_CODE")], rankings);
    const error = await failureOf(result);
    expect(error).toMatchObject({
      kind,
      status,
      code: "SOME_CODE",
      requestId: "req_17",
      attempts,
      operation: "rankings",
    });
    expect(error.message).toContain(`${status} SOME_CODE, It says SOME_CODE (request req_17)`);
    expect(seen).toHaveLength(attempts);
  },
);

test("waits double up to maxMs, and stop at maxAttempts", async () => {
  const retry = { maxAttempts: 6, baseMs: 100, maxMs: 500 };
  const { result, pauses } = await outcomeOf([refusal(503, "DATA_UNAVAILABLE")], rankings, {
    retry,
  });
  expect((await failureOf(result)).attempts).toBe(6);
  expect(pauses).toEqual([100, 200, 400, 500, 500]);
  const once = await outcomeOf([refusal(503, "DATA_UNAVAILABLE")], rankings, {
    retry: { maxAttempts: 1 },
  });
  expect([(await failureOf(once.result)).attempts, once.seen.length]).toEqual([1, 1]);
});

test("the start of an investigation is always repeated with the same key, and the error has the key", async () => {
  const start = (client: Client) =>
    client.startInvestigation({ slug: "larkvoice", confirmUsage: true });
  const unavailable = refusal(503, "DATA_UNAVAILABLE");
  const { result, seen } = await outcomeOf(
    [unavailable, hangUp, refusal(500, "BROKEN"), { status: 202, json: task() }],
    start,
  );
  await expect(result).resolves.toMatchObject({ status: "queued" });
  expect(seen).toHaveLength(4);
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1);

  const failed = await outcomeOf([hangUp], start);
  const error = await failureOf(failed.result);
  const { idempotency_key } = JSON.parse(failed.seen[0]?.body ?? "") as { idempotency_key: string };
  expect([error.kind, error.attempts, error.idempotencyKey]).toEqual([
    "network",
    4,
    idempotency_key,
  ]);
  expect(error.help).toContain("idempotencyKey");
});

const register = (client: Client): Promise<unknown> =>
  client.registerWebhook({
    url: "https://receiver.example/signals",
    signal_types: ["price_increased"],
  });

test("a registration is sent again after a refusal that came before any effect", async () => {
  const limited = refusal(429, "RATE_LIMITED", { headers: { "Retry-After": "1" } });
  const { result, seen } = await outcomeOf(
    [limited, refusal(503, "FEATURE_NOT_ACTIVATED"), { status: 201, json: registration }],
    register,
  );
  await expect(result).resolves.toMatchObject({ signing_secret: "whsec_shown_once" });
  expect(seen).toHaveLength(3);
});

test.each([
  ["no answer", hangUp, "network"],
  [
    "an answer that breaks off",
    (_: unknown, response) => {
      response.writeHead(201, { "Content-Type": "application/json", "Content-Length": "500" });
      response.write('{"id":', () => response.destroy());
    },
    "network",
  ],
  ["an error of the service that may come late", refusal(500, "BROKEN"), "unavailable"],
  [
    "the 503 of a gateway, which may have lost the answer",
    { status: 503, body: "<html>", headers: { "Content-Type": "text/html" } },
    "unavailable",
  ],
] as readonly (readonly [string, Answer, string])[])(
  "a registration is never sent again after %s: it could be made twice, and the first secret be lost",
  async (_, answer, kind) => {
    const { result, seen, pauses } = await outcomeOf(
      [answer, { status: 201, json: registration }],
      register,
    );
    const error = await failureOf(result);
    expect([error.kind, error.retryable, error.attempts]).toEqual([kind, false, 1]);
    expect(error.help).toContain("dashboard");
    expect([seen.length, pauses]).toEqual([1, []]);
  },
);

test("the help does not warn about a request that never arrived", async () => {
  const { baseUrl, server } = await serveAnswers(PAGE);
  await new Promise((resume) => server.close(resume));
  const notFound = Object.assign(new Error("getaddrinfo ENOTFOUND api.invalid"), {
    code: "ENOTFOUND",
  });
  const unresolved = () => Promise.reject(new TypeError("fetch failed", { cause: notFound }));
  for (const [address, options] of [
    [baseUrl, {}],
    ["http://127.0.0.1:1/v1", {}],
    ["https://api.invalid/v1", { fetch: unresolved }],
  ] as const) {
    const error = await failureOf(register(clientOn(address, options).client));
    expect(error).toMatchObject({ kind: "network", attempts: 1, retryable: false });
    expect(error.message).toContain("did not reach the service: ");
    expect(error.help).toBe("Is baseUrl the address of the API, and is the service up?");
  }
});

test("the help warns if an earlier attempt may have started the investigation", async () => {
  const { baseUrl, server } = await serveAnswers(hangUp);
  const { client, clock } = clientOn(baseUrl);
  const call = client.startInvestigation({ slug: "larkvoice", confirmUsage: true });
  server.once("request", () => server.close());
  await settleOn(clock, call);
  const error = await failureOf(call);
  expect(error).toMatchObject({ kind: "network", attempts: 4, cause: { code: "ECONNREFUSED" } });
  expect(error.help).toContain("nevertheless");
});
