import { expect, test } from "vitest";
import { createDurations } from "../../../../src/kit/inbox/durations.js";

test("percentiles are of values that occurred", () => {
  const durations = createDurations();
  for (let value = 100; value >= 1; value--) durations.add(value);
  expect(durations.stats()).toEqual({ count: 100, p50Ms: 50, p99Ms: 99, maxMs: 100 });
});

test("what is long past counts no more, but in the count", () => {
  const durations = createDurations();
  durations.add(9999);
  for (let index = 0; index < 512; index++) durations.add(0.12345);
  expect(durations.stats()).toEqual({ count: 513, p50Ms: 0.123, p99Ms: 0.123, maxMs: 0.123 });
});
