import { expect, test } from "vitest";
import { nearMiss } from "../../../../src/base/options/option-error.js";

const KNOWN = ["secrets", "store", "onSignal", "onTest", "endpoint", "bodyLimitBytes"];

test.each([
  ["secret", "secrets"],
  ["secretss", "secrets"],
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
