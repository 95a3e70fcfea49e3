import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";

test("a delay longer than Node's longest does not fire at once", async () => {
  let fired = false;
  const timer = systemClock.setTimeout(() => (fired = true), 2 ** 40);
  // Whatever Node would fire at once, it would have fired when a worker has come and gone.
  await once(new Worker("", { eval: true }), "exit");
  timer.cancel();
  expect(fired).toBe(false);
});
