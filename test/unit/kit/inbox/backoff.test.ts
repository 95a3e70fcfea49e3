import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fullJitter } from "../../../../src/kit/inbox/dispatch/outcomes.js";

const HOUR_MS = 3_600_000;
const attempts = Array.from({ length: 19 }, (_, index) => index + 1);

test("the delay is anything between nothing and a bound that triples up to six hours", () => {
  const lowest = fullJitter({}, () => 0);
  const highest = fullJitter({}, () => 1);
  expect(attempts.map(lowest)).toEqual(attempts.map(() => 0));
  expect(attempts.slice(0, 4).map(highest)).toEqual([10_000, 30_000, 90_000, 270_000]);
  expect(attempts.map(highest).slice(7)).toEqual(attempts.slice(7).map(() => 6 * HOUR_MS));
});

test("twenty attempts are spread over about three days", () => {
  const total = attempts.map(fullJitter({}, () => 1)).reduce((sum, delay) => sum + delay, 0);
  expect(total / (24 * HOUR_MS)).toBeGreaterThan(2.8);
  expect(total / (24 * HOUR_MS)).toBeLessThan(3.3);
});

test("a delay is a whole number of milliseconds within its bound, for any attempt and options", () => {
  const options = fc.record({
    baseMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    maxMs: fc.double({ min: 0, max: 1e8, noNaN: true }),
  });
  fc.assert(
    fc.property(options, fc.integer({ min: 1, max: 10_000 }), (given, attempt) => {
      const delay = fullJitter(given)(attempt);
      expect(Number.isInteger(delay)).toBe(true);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(Math.round(given.maxMs));
    }),
  );
});
