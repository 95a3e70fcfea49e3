import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { profile, rankingsPage, registration } from "./answers.js";
import { clientOn, failureOf } from "./client-on.js";
import { serve, serveAnswers, type Answer } from "./serve-answers.js";
import { settleOn, TIMEOUT_MS } from "./watched-clock.js";

const once1 = { retry: { maxAttempts: 1 } };

/** What a read of the rankings that is sent once rejects with. */
async function failureWith(answer: Answer) {
  const { baseUrl } = await serveAnswers(answer);
  return failureOf(clientOn(baseUrl, once1).client.rankings());
}

test("an undocumented answer to a registration is kept where no log shows it", async () => {
  const { baseUrl } = await serveAnswers({
    status: 201,
    json: { ...registration, failure_count: "none" },
  });
  const { client } = clientOn(baseUrl);
  const error = await failureOf(
    client.registerWebhook({ url: "https://receiver.example/x", signal_types: ["new_model"] }),
  );
  expect(error.answer).toMatchObject({ signing_secret: "whsec_shown_once" });
  expect(error.help).toContain("dashboard");
});

test("an answer over the limit is not read to its end, however small it was when compressed", async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
  const error = await failureWith({ body: bomb, headers: { "Content-Encoding": "gzip" } });
  expect([error.kind, error.message.includes("answerLimitBytes")]).toEqual([
    "invalid_answer",
    true,
  ]);

  const page = Buffer.from(JSON.stringify(rankingsPage(1, false)));
  const { baseUrl } = await serveAnswers({ body: page });
  await expect(
    clientOn(baseUrl, { answerLimitBytes: page.byteLength }).client.rankings(),
  ).resolves.toBeDefined();
  const tooSmall = clientOn(baseUrl, { answerLimitBytes: page.byteLength - 1 });
  expect((await failureOf(tooSmall.client.rankings())).kind).toBe("invalid_answer");
});

test("an endless answer is ended, and its connection closed", async () => {
  const { baseUrl, server } = await serve(() => (_, response) => {
    const write = (): void =>
      void (response.write(Buffer.alloc(65_536, 0x20)) ? setImmediate(write) : 0);
    response.on("drain", write);
    write();
  });
  const closed = new Promise<void>((resume) =>
    server.on("connection", (socket) => socket.on("close", () => resume())),
  );
  const error = await failureOf(clientOn(baseUrl, once1).client.rankings());
  expect(error.kind).toBe("invalid_answer");
  await closed;
});

test("a refusal whose body breaks off is a refusal", async () => {
  const error = await failureWith((_, response) => {
    response.writeHead(403, { "Content-Type": "application/json", "Content-Length": "500" });
    response.write('{"error":', () => response.destroy());
  });
  expect(error).toMatchObject({ kind: "http", status: 403, code: null });
});

test("a name that is not found is a service that was not reached", async () => {
  const cause = Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" });
  const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
  const { client } = clientOn("https://api.invalid/v1", { fetch, ...once1 });
  const start = client.startInvestigation({ slug: "larkvoice", confirmUsage: true });
  expect((await failureOf(start)).message).toContain("did not reach the service: getaddrinfo");
});

test("a browser's redirect, which has no status, is a redirect too", async () => {
  const arrayBuffer = async () => new ArrayBuffer(0);
  const opaque = { status: 0, headers: new Headers(), body: null, arrayBuffer };
  const { client } = clientOn("https://service.example/v1", { fetch: async () => opaque as never });
  expect((await failureOf(client.rankings())).kind).toBe("redirect");
});

test.each([
  ["no answer", () => undefined],
  [
    "half an answer",
    (_, response) => void response.writeHead(200, { "Content-Length": "50" }).write("{"),
  ],
] as readonly (readonly [string, Answer])[])(
  "%s within timeoutMs is a timeout, and leaves no timer",
  async (_, answer) => {
    const { baseUrl, server } = await serveAnswers(answer);
    const { client, clock } = clientOn(baseUrl, once1);
    const asked = once(server, "request");
    const failure = failureOf(client.rankings());
    await asked;
    await clock.advance(TIMEOUT_MS - 1);
    expect(clock.pendingTimers()).toBe(1);
    await clock.advance(1);
    const error = await failure;
    expect([error.kind, error.status, error.retryable]).toEqual(["timeout", null, true]);
    expect(error.message).toContain(`${TIMEOUT_MS} ms`);
    expect(clock.pendingTimers()).toBe(0);
  },
);

test("a fetch without abort and without streams works too", async () => {
  const fetch = (async (url: string) => {
    if (url.endsWith("/rankings")) return new Promise(() => undefined);
    const bytes = new TextEncoder().encode(JSON.stringify(profile));
    return { status: 200, headers: new Headers(), arrayBuffer: async () => bytes.buffer };
  }) as unknown as typeof globalThis.fetch;
  const { client, clock } = clientOn("https://service.example/v1", { fetch, ...once1 });
  await expect(client.productProfile("larkvoice")).resolves.toEqual(profile);
  const { client: narrow } = clientOn("https://service.example/v1", {
    fetch,
    answerLimitBytes: 100,
  });
  expect((await failureOf(narrow.productProfile("larkvoice"))).message).toContain(
    "larger than answerLimitBytes",
  );
  const failure = failureOf(client.rankings());
  await clock.advance(TIMEOUT_MS);
  expect((await failure).kind).toBe("timeout");
});

test("an abort ends a call at once, with its reason, before, during and between its requests", async () => {
  const reason = new Error("enough");
  const { baseUrl, seen, server } = await serve((index) =>
    index === 0 ? () => undefined : { status: 503, body: "" },
  );
  const { client, clock } = clientOn(baseUrl);
  await expect(client.rankings({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(seen).toHaveLength(0);

  const during = new AbortController();
  const asked = once(server, "request");
  const hanging = client.rankings({}, { signal: during.signal });
  const [request] = (await asked) as [{ socket: NodeJS.EventEmitter }];
  const closed = once(request.socket, "close");
  during.abort(reason);
  await expect(hanging).rejects.toBe(reason);
  await closed;

  const between = new AbortController();
  const paused = clock.nextPause();
  const retried = client.rankings({}, { signal: between.signal });
  await paused;
  between.abort(reason);
  await expect(retried).rejects.toBe(reason);
  expect([seen.length, clock.pendingTimers()]).toEqual([2, 0]);
});

test("an abort that comes as a retry is planned ends the call", async () => {
  const { baseUrl } = await serveAnswers({ status: 503, body: "" });
  const planning = new AbortController();
  const reason = new Error("enough");
  const random = (): number => {
    planning.abort(reason);
    return 0;
  };
  const { client, clock } = clientOn(baseUrl, { random });
  await expect(client.rankings({}, { signal: planning.signal })).rejects.toBe(reason);
  expect(clock.pendingTimers()).toBe(0);
});

test("one signal for many parallel calls, and for the pauses of their retries, makes Node print no warning", async () => {
  const { baseUrl } = await serveAnswers(...repeated(24, { status: 503, body: "" }), {
    json: rankingsPage(1, false),
  });
  const { client, clock } = clientOn(baseUrl);
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  const { signal } = new AbortController();
  const calls = Promise.all(Array.from({ length: 24 }, () => client.rankings({}, { signal })));
  await settleOn(clock, calls);
  await calls;
  // A warning is emitted in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

test("a call that is over does not hear of an abort, so a signal of long life keeps nothing of it", async () => {
  const signals: AbortSignal[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (init?.signal) signals.push(init.signal);
    return Response.json(rankingsPage(1, false));
  };
  const given = new AbortController();
  await clientOn("https://service.example/v1", { fetch }).client.rankings(
    {},
    { signal: given.signal },
  );
  given.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});

function repeated(times: number, answer: Answer): [Answer, ...Answer[]] {
  return [answer, ...Array.from({ length: times - 1 }, () => answer)];
}
