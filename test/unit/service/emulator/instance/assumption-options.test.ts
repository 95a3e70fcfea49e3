import { expect, test } from "vitest";
import {
  assumptionsSchema,
  parseAssumption,
  type AssumptionOptions,
} from "../../../../../src/service/emulator/instance/assumption-options.js";
import { resolveEmulatorOptions } from "../../../../../src/service/emulator/instance/options.js";

const refusalOf = (name: string, value: unknown): string => {
  try {
    return String(
      Reflect.get(resolveEmulatorOptions({ assumptions: { [name]: value } }).assumptions, name),
    );
  } catch (error) {
    return String(error instanceof Error && error.message);
  }
};

test.each(Object.entries(assumptionsSchema.parse({})))(
  "%s takes its default, also as it is typed",
  (name, value) => {
    expect(parseAssumption(name, String(value))).toBe(value);
    expect(refusalOf(name, undefined)).toBe(String(value));
  },
);

test.each<[name: keyof AssumptionOptions, expected: string, takes: unknown[], refuses: unknown[]]>([
  [
    "retrySeconds",
    "numbers of seconds from 0 to 86400, separated by commas, or an empty text",
    ["", "0", "0.5,86400"],
    ["86401", "-1", "1e3", "10,,60", "10,60,", " 10", "Infinity"],
  ],
  [
    "deliveryTimeoutMs",
    "a whole number from 1 to 600000",
    [1, 600_000],
    [0, 600_001, 1.5, "1", NaN, null],
  ],
  ["signatureClock", "one of service, machine", ["machine"], ["other", 1]],
  ["allowLoopbackHttp", "true or false", [true], ["true", 1]],
])("%s takes %s, and refuses everything else", (name, expected, takes, refuses) => {
  for (const value of takes) expect(refusalOf(name, value)).toBe(String(value));
  for (const value of refuses) {
    const line = `The option "assumptions.${name}" of createEmulator is invalid: expected ${expected}. `;
    expect(refusalOf(name, value), JSON.stringify(value)).toBe(
      `${line}docs/emulator.md of the package lists every option.`,
    );
  }
});
