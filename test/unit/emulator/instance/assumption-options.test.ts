import { expect, test } from "vitest";
import { parseAssumption, resolveAssumptions } from "../../../../src/emulator/instance/assumption-options.js";
import type { Assumption } from "../../../../src/emulator/instance/assumption.js";
import { ASSUMPTIONS } from "../../../../src/emulator/instance/assumptions.js";

const TABLE: readonly (readonly [name: string, assumption: Assumption<unknown>])[] = Object.entries(ASSUMPTIONS);
const FACTORY = "createEmulator";

const resolve = (name: string, value: unknown) => () => resolveAssumptions({ [name]: value }, FACTORY);
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
    expect(parseAssumption(name, String(value), "signalbox emulator")).toBe(value);
    const others = [null, {}, [value], NaN, Infinity, -1, Symbol("x"), "zzzzzzzzzz,\n", "a".repeat(101), () => value];
    for (const other of [...others, typeof value === "string" ? 1 : String(value)]) {
      const line = `The option "assumptions.${name}" of createEmulator is invalid: expected ${allowed.text}. `;
      expect(refusalOf(name, other)).toBe(`${line}The README lists every option.`);
    }
    for (const word of allowed.words) expect(() => parseAssumption(name, word, FACTORY)).not.toThrow();
    for (const word of allowed.words.filter((each) => each.length > 3 && !allowed.words.includes(each.slice(0, -1)))) {
      expect(refusalOf(name, word.slice(0, -1))).toContain("Did you mean");
    }
  },
);

test.each<[name: keyof typeof ASSUMPTIONS, takes: readonly unknown[], refuses: readonly unknown[]]>([
  ["gatedRankingSorts", ["", "paid", "paid,growth"], ["ai,", ",ai", "ai, paid", "ai,ai", "AI", "ai;paid", "country"]],
  ["sessionScopes", ["", "mcp:tools,research:read"], ["research", "research:read research:execute", "*"]],
  [
    "retrySeconds",
    ["", "0", "0.5,86400"],
    ["86401", "-1", "1e3", "10,,60", "10,60,", "10 60", " 10", "10m", "Infinity"],
  ],
  ["trafficDataSource", ["x", "数据", "😀".repeat(100)], ["", "a\nb", "a\0", "\ud800"]],
  ["deliveryUserAgent", ["x", "Hooks/2.0 (a; b)"], ["", " x", "x ", "a\nb", "a\r\nX-More: 1", "é", "数据"]],
  ["concentratedFromCr3", [0, 0.5, 1], [1.01, -0.01]],
  ["queuedSeconds", [0, 0.5, 2_592_000], [2_592_001]],
  ["deliveryTimeoutMs", [1, 600_000], [0, 600_001, 1.5]],
  ["longestRetryAfterSeconds", [0, 86_400], [86_401]],
  ["minutesBetweenSignalTypes", [0, 720], [720.5]],
  ["monthObservedOnDay", [1, 28], [0, 29, 1.5]],
  ["wrongMethodStatus", [404, 405], [403, "405"]],
])("%s is bound at both ends", (name, takes, refuses) => {
  for (const value of takes) expect(refusalOf(name, value), JSON.stringify(value)).toBe("taken");
  for (const value of refuses) expect(refusalOf(name, value), JSON.stringify(value)).toContain(`"assumptions.${name}"`);
});

test("a list that names one twice is told that each counts once", () => {
  expect(refusalOf("gatedRankingSorts", "ai,ai")).toContain("each once");
});

test("an error repeats no value", () => {
  expect(refusalOf("trafficDataSource", "secret\nvalue")).not.toContain("secret");
  expect(refusalOf("sessionScopes", "secret:value")).not.toContain("secret");
});

test("no default is outside of what is allowed, and each says what that is", () => {
  for (const [name, { default: value, allowed }] of TABLE) {
    expect([name, allowed.schema.safeParse(value).success]).toEqual([name, true]);
    expect(allowed.text).not.toBe("");
  }
});
