import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { resolveClientOptions } from "../../../../src/service/client/client-options.js";
import { rankingsPage } from "./answers.js";
import { clientOn } from "./client-on.js";
import { serveAnswers } from "./serve-answers.js";

const BASE_URL = "https://service.example/v1";
const resolve = (over: object = {}) => resolveClientOptions({ baseUrl: BASE_URL, ...over });

test("undefined means absent, at every level, and a group that is given in part keeps the other defaults", () => {
  const { fetch: _, ...plain } = resolve();
  const absent = Object.fromEntries(
    [...Object.keys(plain), "apiKey", "userAgent", "fetch"]
      .filter((name) => !["baseUrl", "readApiKey"].includes(name))
      .map((name) => [name, undefined]),
  );
  expect(resolve(absent)).toMatchObject(plain);
  expect(resolve({ retry: { maxAttempts: 2, baseMs: undefined } }).retry).toEqual({
    ...plain.retry,
    maxAttempts: 2,
  });
});

test("a base address is taken in its usual form", () => {
  const taken = {
    "https://service.example/v1/": "https://service.example/v1",
    "HTTPS://Service.Example:8443/a/v1": "https://service.example:8443/a/v1",
    "http://localhost:4000/v1": "http://localhost:4000/v1",
    "http://[::1]:4000/v1": "http://[::1]:4000/v1",
  };
  const resolved = Object.keys(taken).map((baseUrl) => resolve({ baseUrl }).baseUrl);
  expect(resolved).toEqual(Object.values(taken));
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
