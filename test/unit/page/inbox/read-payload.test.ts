import { expect, test } from "vitest";
import { differences, readPayload } from "../../../../src/page/inbox/browser/read-payload.js";

const told = (before: string, after: string): string[] =>
  differences(JSON.parse(before), JSON.parse(after)).map(
    ([path, was, is]) => `${path}: ${was} → ${is}`,
  );

test.each([
  ['{"a":1}', '{"a":1}', []],
  ['{"a":{"b c":[1,2]}}', '{"a":{"b c":[1,3]}}', ['a["b c"][1]: 2 → 3']],
  ['{"a":1}', '{"b":null}', ["a: 1 → undefined", "b: undefined → null"]],
  ["{}", '{"a":{"b":1}}', [': {} → {"a":{"b":1}}']],
  ['{"a":[1]}', '{"a":{"0":1}}', ['a: [1] → {"0":1}']],
  ['{"a":1}', '{"a":1,"__proto__":{}}', ["__proto__: undefined → {}"]],
  ['{"a":1}', '{"a":1,"constructor":2}', ["constructor: undefined → 2"]],
])("the differences of %s and %s are told by their paths", (before, after, wanted) => {
  expect(told(before, after)).toEqual(wanted);
});

test("what is nested deep is compared as one value", () => {
  const nested = (value: number): string => `${"[".repeat(2000)}${value}${"]".repeat(2000)}`;
  const [[path] = [""], ...others] = differences(JSON.parse(nested(1)), JSON.parse(nested(2)));
  expect(others).toEqual([]);
  expect(path.length).toBeLessThan(210);
});

test("a field of a form that is there several times is a list", () => {
  const payload = "a=1&b=x&a=2&__proto__=3&a=";
  expect(JSON.stringify(readPayload({ payload, isCut: false })?.value)).toBe(
    '{"a":["1","2",""],"b":"x","__proto__":"3"}',
  );
});
