import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import {
  clientClock,
  resolveClientOptions,
} from "../../../../src/service/client/client-options.js";
import { rankingsPage } from "./answers.js";
import { clientOn } from "./client-on.js";
import { serveAnswers } from "./serve-answers.js";

const BASE_URL = "https://service.example/v1";
const resolve = (over: object = {}) => resolveClientOptions({ baseUrl: BASE_URL, ...over });

test("the defaults are the documented ones", () => {
  expect(resolve()).toMatchObject({
    baseUrl: BASE_URL,
    readApiKey: null,
    timeoutMs: 30_000,
    retry: { maxAttempts: 4, baseMs: 1000, maxMs: 30_000, maxWaitMs: 60_000 },
    answerLimitBytes: 8 * 1024 * 1024,
    clock: clientClock,
    random: Math.random,
  });
});

test("undefined means absent, at every level, and a group that is given in part keeps the other defaults", () => {
  const names = [
    "apiKey",
    "timeoutMs",
    "retry",
    "answerLimitBytes",
    "userAgent",
    "fetch",
    "clock",
    "random",
  ];
  const absent = resolve(Object.fromEntries(names.map((name) => [name, undefined])));
  const { fetch: _, ...plain } = resolve();
  expect(absent).toMatchObject(plain);
  expect(resolve({ retry: { maxAttempts: 2, baseMs: undefined } }).retry).toEqual({
    ...plain.retry,
    maxAttempts: 2,
  });
});

test.each([
  ["https://service.example/v1/", "https://service.example/v1"],
  ["HTTPS://Service.Example:8443/a/v1", "https://service.example:8443/a/v1"],
  ["http://localhost:4000/v1", "http://localhost:4000/v1"],
  ["http://[::1]:4000/v1", "http://[::1]:4000/v1"],
])("the base address %s is taken", (baseUrl, resolved) => {
  expect(resolve({ baseUrl }).baseUrl).toBe(resolved);
});

test("the User-Agent that is given is sent", async () => {
  const { baseUrl, seen } = await serveAnswers({ json: rankingsPage(1, false) });
  await clientOn(baseUrl, { userAgent: "dashboard/2.1 (signalbox)" }).client.rankings();
  expect(seen[0]?.headers["user-agent"]).toBe("dashboard/2.1 (signalbox)");
});

test("the platform's fetch is looked up when it is used", async () => {
  const { baseUrl } = await serveAnswers({ json: rankingsPage(1, false) });
  const { client } = clientOn(baseUrl);
  const original = globalThis.fetch;
  const asked: unknown[] = [];
  globalThis.fetch = (...request) => {
    asked.push(request[0]);
    return original(...request);
  };
  try {
    await client.rankings();
  } finally {
    globalThis.fetch = original;
  }
  expect(asked).toHaveLength(1);
});

const BUILT = new URL("../../../../dist/service/client/client-options.js", import.meta.url).href;

test("a process stays alive while the client waits, also for longer than a timer can be, and ends when it does not", () => {
  const wait = (delayMs: number): string => `import { clientClock } from ${JSON.stringify(BUILT)};
    const timer = clientClock.setTimeout(() => console.log("waited"), ${delayMs});`;
  const run = (code: string): string =>
    spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).stdout;
  expect(run(wait(20))).toBe("waited\n");
  expect(run(`${wait(20)} timer.cancel();`)).toBe("");
  // Node itself fires such a timer after 1 ms.
  expect(run(`${wait(2 ** 40)} setTimeout(() => process.exit(), 50);`)).toBe("");
});
