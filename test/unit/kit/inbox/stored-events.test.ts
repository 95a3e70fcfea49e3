import { expect, test } from "vitest";
import {
  countDone,
  DURATION_BOUNDS_MS,
  noActivity,
  percentileOf,
} from "../../../../src/kit/inbox/stored-events.js";

test("a percentile is the bound within which so many events were done", () => {
  const counts = noActivity();
  const percentiles = () => [50, 95, 100].map((percent) => percentileOf(counts.durations, percent));
  expect(percentiles()).toEqual([null, null, null]);
  for (let n = 0; n < 10; n++) countDone(counts, 5);
  for (let n = 0; n < 9; n++) countDone(counts, 5.5);
  expect(percentiles()).toEqual([5, 10, 10]);
  countDone(counts, 10 * (DURATION_BOUNDS_MS.at(-1) ?? NaN));
  expect(percentiles()).toEqual([5, 10, Infinity]);
  expect(counts.handedOff).toBe(20);
});
