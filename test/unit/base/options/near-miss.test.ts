import * as fc from "fast-check";
import { expect, test } from "vitest";
import { nearMiss } from "../../../../src/base/options/option-error.js";

const KNOWN = ["secrets", "store", "onSignal", "onTest", "endpoint", "bodyLimitBytes"];

test.each([
  ["secret", "secrets"],
  ["stoer", "store"],
  ["onsignal", "onSignal"],
  ["bodyLimit", "bodyLimitBytes"],
  ["body", "bodyLimitBytes"],
  ["end", undefined],
  ["webhookUrl", undefined],
  ["", undefined],
])("%j was probably meant to be %j", (name, meant) => {
  expect(nearMiss(name, KNOWN)).toBe(meant);
});

test("a known name is its own nearest, and nothing is near to nothing", () => {
  for (const name of KNOWN) expect(nearMiss(name, KNOWN)).toBe(name);
  expect(nearMiss("secrets", [])).toBeUndefined();
});

test("one letter changed, added or lost still finds the name", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...KNOWN),
      fc.nat(),
      fc.constantFrom("change", "add", "lose"),
      (name, at, how) => {
        const place = at % name.length;
        const letter = how === "lose" ? "" : "q";
        const misspelt =
          name.slice(0, place) + letter + name.slice(how === "add" ? place : place + 1);
        expect(nearMiss(misspelt, KNOWN)).toBe(name);
      },
    ),
  );
});
