import { expect, test } from "vitest";
import { formatAge, formatBytes } from "../../../../src/base/text/format.js";

const HOUR = 60 * 60 * 1000;

test.each([
  [999, "0 s"],
  [59_600, "59 s"],
  [-60_000, "1 min"],
  [HOUR - 1, "59 min"],
  [36 * HOUR, "36 h"],
  [48 * HOUR, "2 d"],
  [24_000 * HOUR, "1,000 d"],
])("an age has one unit, and is rounded down: %i ms", (ms, words) => {
  expect(formatAge(ms)).toBe(words);
});

test.each([
  [1, "1 byte"],
  [1023, "1,023 bytes"],
  [2048, "2.0 KiB"],
  [3 * 2 ** 20, "3.0 MiB"],
])("bytes are counted by 1,024, and their unit says so: %i", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});
