import { expect, test } from "vitest";
import { parseAssumption, resolveAssumptions } from "../../../../src/emulator/instance/assumption-options.js";
import { ASSUMPTIONS, type Assumption } from "../../../../src/emulator/instance/assumptions.js";

const TABLE: readonly (readonly [name: string, assumption: Assumption<unknown>])[] = Object.entries(ASSUMPTIONS);

const refusalOf = (name: string, value: unknown): string => {
  try {
    resolveAssumptions({ [name]: value });
    return "taken";
  } catch (error) {
    return String(error instanceof Error && error.message);
  }
};

test.each(TABLE)("%s takes its default, also as it is typed, and refuses what makes no sense", (name, assumption) => {
  const { default: value, allowed } = assumption;
  expect(resolveAssumptions({ [name]: value })).toMatchObject({ [name]: value });
  expect(parseAssumption(name, String(value))).toBe(value);
  for (const other of [null, {}, NaN, -1, "zzzzzzzzzz", typeof value === "string" ? 1 : String(value)]) {
    const line = `The option "assumptions.${name}" of createEmulator is invalid: expected ${allowed.text}. `;
    expect(refusalOf(name, other)).toBe(`${line}docs/emulator.md lists every option.`);
  }
});

test.each<[name: keyof typeof ASSUMPTIONS, takes: readonly unknown[], refuses: readonly unknown[]]>([
  ["retrySeconds", ["", "0", "0.5,86400"], ["86401", "-1", "1e3", "10,,60", "10,60,", " 10", "Infinity"]],
  ["deliveryTimeoutMs", [1, 600_000], [0, 600_001, 1.5]],
])("%s is bound at both ends", (name, takes, refuses) => {
  for (const value of takes) expect(refusalOf(name, value), JSON.stringify(value)).toBe("taken");
  for (const value of refuses) expect(refusalOf(name, value), JSON.stringify(value)).toContain(`"assumptions.${name}"`);
});
