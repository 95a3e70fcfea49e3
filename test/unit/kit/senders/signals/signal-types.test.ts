import { expect, test } from "vitest";
import { isKnownSignalType, SIGNAL_TYPES } from "../../../../../src/kit/index.js";

test("there are 38 signal types, each once", () => {
  expect(SIGNAL_TYPES.length).toBe(38);
  expect(new Set(SIGNAL_TYPES).size).toBe(38);
});

test("the 38 are known and nothing else is", () => {
  for (const type of SIGNAL_TYPES) expect(isKnownSignalType(type)).toBe(true);
  for (const type of [
    "",
    "TRAFFIC_BREAKOUT",
    "constructor",
    "__proto__",
    "length",
    "0",
    undefined,
    null,
    0,
    {},
  ]) {
    expect(isKnownSignalType(type), JSON.stringify(type)).toBe(false);
  }
});
