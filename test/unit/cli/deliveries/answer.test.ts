import { expect, test } from "vitest";
import { answerTimes } from "../../../../src/cli/deliveries/send-delivery.js";

test("the median, the 99th percentile and the slowest of durations in any order; null of none", () => {
  const durations = Array.from({ length: 200 }, (_, index) => ((index * 7) % 200) + 1.04);
  expect(answerTimes(durations)).toEqual({ count: 200, p50Ms: 100, p99Ms: 198, maxMs: 200 });
  expect(answerTimes([])).toBeNull();
});
