import { expect, test } from "vitest";
import { isKnownSignalType, SIGNAL_TYPES } from "../../../../../src/kit/index.js";

test("there are 38 signal types, each once, and nothing else is known", () => {
  expect(SIGNAL_TYPES.length).toBe(38);
  expect(new Set(SIGNAL_TYPES).size).toBe(38);
  expect(SIGNAL_TYPES.every(isKnownSignalType)).toBe(true);
  for (const type of ["", "TRAFFIC_BREAKOUT", "constructor", "__proto__", "length", "0", undefined])
    expect(isKnownSignalType(type), type).toBe(false);
});
