import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { clientClock } from "../../../src/client/client-options.js";

const SOURCE = new URL("../../../dist/client/client-options.js", import.meta.url).href;

test("a process lives on while the client waits, and ends when it does not", () => {
  const wait = `import { clientClock } from ${JSON.stringify(SOURCE)};
    const timer = clientClock.setTimeout(() => console.log("waited"), 20);`;
  const run = (code: string): string =>
    spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).stdout;
  expect(run(wait)).toBe("waited\n");
  expect(run(`${wait} timer.cancel();`)).toBe("");
});

test("a wait that is longer than a timer can be is not over at once", async () => {
  let calls = 0;
  const timer = clientClock.setTimeout(() => (calls += 1), 2 ** 40);
  await new Promise<void>((resume) => clientClock.setTimeout(resume, 5));
  timer.cancel();
  expect(calls).toBe(0);
  expect(Math.abs(clientClock.now() - Date.now())).toBeLessThan(1000);
  expect(clientClock.elapsed()).toBeGreaterThan(0);
});
