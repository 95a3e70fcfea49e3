import { expect, test } from "vitest";
import { createReceiver } from "../../../../src/kit/index.js";
import { createLogThrottle } from "../../../../src/kit/receiver/receiver-log.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";

test("one line a second for each key, with the count of those held back", async () => {
  const clock = createManualClock();
  const throttle = createLogThrottle(clock);
  expect([throttle("a"), throttle("a"), throttle("a"), throttle("b")]).toEqual([0, null, null, 0]);
  await clock.advance(999);
  expect(throttle("a")).toBeNull();
  await clock.advance(1);
  expect([throttle("a"), throttle("a"), throttle("b")]).toEqual([3, null, 0]);
  await clock.advance(5000);
  expect([throttle("a"), throttle("a")]).toEqual([1, null]);
});

test("setting the machine's clock back silences nothing", async () => {
  const clock = createManualClock();
  const throttle = createLogThrottle(clock);
  throttle("a");
  clock.setNow(0);
  await clock.advance(1000);
  expect(throttle("a")).toBe(0);
});

test("a receiver that was not started says in its log why deliveries get 503", async () => {
  const { logger, lines } = logLines();
  const receiver = createReceiver({
    secrets: "whsec_unit",
    store: memoryStore(),
    logger,
    onSignal() {},
  });
  for (let time = 0; time < 3; time++) {
    expect(
      (await receiver.handle({ method: "POST", headers: {}, body: Buffer.from("{}") })).status,
    ).toBe(503);
  }
  expect(lines.filter((line) => line.includes("start() was not called"))).toHaveLength(1);
});
