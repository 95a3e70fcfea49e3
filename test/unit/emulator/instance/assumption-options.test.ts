import { expect, test } from "vitest";
import { parseAssumption, resolveAssumptions } from "../../../../src/emulator/instance/assumption-options.js";

import { ASSUMPTIONS, type Assumption } from "../../../../src/emulator/instance/assumptions.js";

const TABLE: readonly (readonly [name: string, assumption: Assumption<unknown>])[] = Object.entries(ASSUMPTIONS);

const resolve = (name: string, value: unknown) => () => resolveAssumptions({ [name]: value });
const refusalOf = (name: string, value: unknown): string => {
  try {
    resolve(name, value)();
    return "taken";
  } catch (error) {
    return String(error instanceof Error && error.message);
  }
};

test.each(TABLE)(
  "%s takes its default, also as it is typed, and refuses what makes no sense in a line",
  (name, { default: value, allowed }) => {
    expect(resolve(name, value)()).toMatchObject({ [name]: value });
    expect(parseAssumption(name, String(value))).toBe(value);
    const others = [null, {}, [value], NaN, Infinity, -1, Symbol("x"), "zzzzzzzzzz,\n", "a".repeat(101), () => value];
    for (const other of [...others, typeof value === "string" ? 1 : String(value)]) {
      const line = `The option "assumptions.${name}" of createEmulator is invalid: expected ${allowed.text}. `;
      expect(refusalOf(name, other)).toBe(`${line}docs/emulator.md lists every option.`);
    }
    for (const word of allowed.words) expect(() => parseAssumption(name, word)).not.toThrow();
    for (const word of allowed.words.filter((each) => each.length > 3 && !allowed.words.includes(each.slice(0, -1)))) {
      expect(refusalOf(name, word.slice(0, -1))).toContain("Did you mean");
    }
  },
);

test.each<[name: keyof typeof ASSUMPTIONS, takes: readonly unknown[], refuses: readonly unknown[]]>([
  [
    "retrySeconds",
    ["", "0", "0.5,86400"],
    ["86401", "-1", "1e3", "10,,60", "10,60,", "10 60", " 10", "10m", "Infinity"],
  ],
  ["queuedSeconds", [0, 0.5, 2_592_000], [2_592_001]],
  ["deliveryTimeoutMs", [1, 600_000], [0, 600_001, 1.5]],
  ["longestRetryAfterSeconds", [0, 86_400], [86_401]],
  ["minutesBetweenSignalTypes", [0, 720], [720.5]],
  ["monthObservedOnDay", [1, 28], [0, 29, 1.5]],
])("%s is bound at both ends", (name, takes, refuses) => {
  for (const value of takes) expect(refusalOf(name, value), JSON.stringify(value)).toBe("taken");
  for (const value of refuses) expect(refusalOf(name, value), JSON.stringify(value)).toContain(`"assumptions.${name}"`);
});
