import { expect, test } from "vitest";
import { inParallel } from "../../../src/cli/deliveries/in-parallel.js";

test("no more than so many items are worked on at a time, and all of them are", async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    done.push(item);
  });
  expect([most, new Set(done)]).toEqual([3, new Set([1, 2, 3, 4, 5, 6, 7])]);
});

test("a failure begins nothing more, and is thrown after what was begun has ended", async () => {
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => (finish = resolve));
  const events: string[] = [];
  const run = inParallel(["slow", "failing", "never"], 2, async (item) => {
    if (item === "failing") throw new Error("failed");
    await slow;
    events.push(item);
  }).catch((error: unknown) => events.push(String(error)));
  // Time enough for a rejection to come through.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  finish();
  await run;
  expect(events).toEqual(["slow", "Error: failed"]);
});
