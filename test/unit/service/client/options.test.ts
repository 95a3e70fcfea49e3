import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import {
  clientClock,
  resolveClientOptions,
} from "../../../../src/service/client/client-options.js";
import { errorOf } from "../../signalbox-error-of.js";
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
    userAgent: null,
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
  [{ baseURL: BASE_URL }, "baseURL", "baseUrl"],
  [{ retry: { maxAttempt: 1 } }, "retry.maxAttempt", "maxAttempts"],
])("the unknown option of %j is refused by name, with the near miss", (over, name, meant) => {
  const error = errorOf(() => resolve(over));
  expect([error.code, error.message.includes(`createClient has no option "${name}"`)]).toEqual([
    "option_unknown",
    true,
  ]);
  expect(error.help).toContain(`"${meant}"`);
});

test.each([
  ["baseUrl", undefined],
  ["timeoutMs", 0],
  ["retry", 3],
  ["retry.maxAttempts", 0],
  ["retry.baseMs", 0],
  ["retry.maxMs", -1],
  ["retry.maxWaitMs", -1],
  ["answerLimitBytes", 0],
  ["userAgent", "two\nlines"],
  ["fetch", {}],
  ["clock", {}],
  ["random", 4],
])("the option %s is refused as %j, by its name", (path, value) => {
  const [group, name] = path.split(".") as [string, string?];
  const error = errorOf(() => resolve({ [group]: name === undefined ? value : { [name]: value } }));
  expect([error.code, error.message.includes(`"${path}" of createClient`)]).toEqual([
    "option_invalid",
    true,
  ]);
});

test.each([
  ["https://service.example/v1/", "https://service.example/v1"],
  ["HTTPS://Service.Example:8443/a/v1", "https://service.example:8443/a/v1"],
  ["http://localhost:4000/v1", "http://localhost:4000/v1"],
  ["http://[::1]:4000/v1", "http://[::1]:4000/v1"],
])("the base address %s is taken", (baseUrl, resolved) => {
  expect(resolve({ baseUrl }).baseUrl).toBe(resolved);
});

test.each([
  ["http://service.example/v1", "loopback"],
  ["http://127.0.0.1.service.example/v1", "loopback"],
  ["https://user:secret_word@service.example/v1", "password"],
  ["https://service.example/v1?key=secret_word", "query"],
  ["https://service.example/v1#x", "fragment"],
  ["ftp://service.example/v1", "https"],
  ["", "address"],
])(
  "the base address %j is refused with the reason, and its parts are not quoted",
  (baseUrl, said) => {
    const error = errorOf(() => resolve({ baseUrl }));
    expect([error.code, error.message.includes(said)]).toEqual(["option_invalid", true]);
    expect(error.message).not.toContain("secret_word");
  },
);

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
