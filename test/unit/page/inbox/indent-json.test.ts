import { assert, constantFrom, jsonValue, property } from "fast-check";
import { expect, test } from "vitest";
import { indentJson } from "../../../../src/page/inbox/answers.js";

test("it indents as JSON.stringify does", () => {
  assert(
    property(jsonValue(), constantFrom(undefined, 1, "\t\n "), (value, space) => {
      // A number is kept as it was written, so -0 differs.
      const indented = JSON.stringify(value, null, 2);
      expect(indentJson(JSON.stringify(value, null, space))).toBe(indented);
    }),
  );
});

test("it keeps numbers, keys and escapes as they were written", () => {
  const json = String.raw`{"a":1.0,"b":12345678901234567890,"a":"\u003c\"}{][,:","c":[ ],"d":{ },"e":1E5}`;
  expect(indentJson(json)).toBe(
    String.raw`{
  "a": 1.0,
  "b": 12345678901234567890,
  "a": "\u003c\"}{][,:",
  "c": [],
  "d": {},
  "e": 1E5
}`,
  );
});

test("JSON that is nested very deep does not become many times longer", () => {
  const deep = "[".repeat(30_000) + "]".repeat(30_000);
  expect(indentJson(deep).length).toBeLessThan(50 * deep.length);
  const large = "[".repeat(50_000) + "]".repeat(50_000);
  expect(indentJson(large)).toBe(large);
  const text = JSON.stringify('\\"'.repeat(10_000));
  expect(indentJson(`[${text}]`)).toBe(`[\n  ${text}\n]`);
});
