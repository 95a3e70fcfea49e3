import { expect, test } from "vitest";
import { readRetryAfter } from "../../../../../src/service/client/transport/raw-answer.js";

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
