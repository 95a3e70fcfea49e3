import { expect, test } from "vitest";
import { median, percentile, spread, spreadOrNull, waitQuantile } from "../bench/statistics.js";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test("a percentile is the smallest value that so many percent do not exceed", () => {
  expect(percentile(upTo(100), 50)).toBe(50);
  expect(percentile(upTo(100), 99)).toBe(99);
  expect(percentile(upTo(100), 100)).toBe(100);
  expect(percentile(upTo(1000), 99.9)).toBe(999);
  expect(percentile([1, 2, 3], 50)).toBe(2);
  expect(percentile([7], 99.9)).toBe(7);
  expect(percentile(upTo(10), 0)).toBe(1);
});

test("of nothing there is no percentile and no median", () => {
  expect(percentile([], 50)).toBeNaN();
  expect(median([])).toBeNaN();
});

test("a median is the middle value, or the mean of the two in the middle", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([10, 2, 1, 4])).toBe(3);
});

test("a median leaves its values in their order", () => {
  const values = [3, 1, 2];
  median(values);
  expect(values).toEqual([3, 1, 2]);
});

test("a spread is the median between the least and the most", () => {
  expect(spread([8, 2, 4])).toEqual({ median: 4, min: 2, max: 8 });
});

test("a figure that one round lacks has no spread", () => {
  expect(spreadOrNull([1, null])).toBeNull();
  expect(spreadOrNull([1, 3])).toEqual({ median: 2, min: 1, max: 3 });
});

test("a loop that comes round on time makes nobody wait", () => {
  expect(
    waitQuantile(
      Array.from({ length: 100 }, () => 1),
      1,
      99,
    ),
  ).toBe(0);
});

test("one stall among many ticks counts by its length, not as one of many", () => {
  // 900 ms in ticks of 1 ms, then 100 ms at one go: one arrival in ten comes into the stall, which has 100 ms for it.
  const gaps = [...Array.from({ length: 900 }, () => 1), 101];
  // Of all who come, 1 % come in its first 10 ms and wait for the 90 that remain.
  expect(waitQuantile(gaps, 1, 99)).toBeCloseTo(90, 0);
  expect(
    percentile(
      gaps.toSorted((a, b) => a - b),
      99,
    ),
  ).toBe(1);
});

test("waits in stalls of several lengths are those of a simulated crowd", () => {
  const gaps = [3, 41, 1, 17, 9, 26, 1, 1, 12, 5];
  const waits: number[] = [];
  for (const gap of gaps) for (let at = 0; at < gap; at += 0.001) waits.push(Math.max(0, gap - 1 - at));
  waits.sort((a, b) => a - b);
  for (const percent of [50, 90, 99]) {
    expect(waitQuantile(gaps, 1, percent)).toBeCloseTo(percentile(waits, percent), 1);
  }
});
