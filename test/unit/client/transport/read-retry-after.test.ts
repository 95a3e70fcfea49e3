import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readRetryAfter } from "../../../../src/client/transport/read-retry-after.js";

const NOW = Date.parse("2026-11-21T12:00:00Z");

test.each([
  ["0", 0],
  [" 5 ", 5000],
  ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
  ["Saturday, 21-Nov-26 12:00:30 GMT", 30_000],
  ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
  [null, null],
  ["-5", null],
  ["1.5", null],
  ["2026-11-21T12:00:30Z", null],
  ["99999999999999999999", null],
])("Retry-After %j asks for %j ms", (header, expected) => {
  expect(readRetryAfter(header, NOW)).toBe(expected);
});

test("any date that HTTP can write is read to the second", () => {
  fc.assert(
    fc.property(fc.integer({ min: -100_000, max: 100_000_000 }), (seconds) => {
      const date = new Date(NOW + seconds * 1000).toUTCString();
      expect(readRetryAfter(date, NOW)).toBe(Math.max(0, seconds * 1000));
    }),
  );
});
