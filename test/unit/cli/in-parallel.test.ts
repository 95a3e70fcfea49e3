import { expect, test } from "vitest";
import { inParallel } from "../../../src/cli/deliveries/send-cases.js";

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
