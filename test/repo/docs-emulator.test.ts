import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ALL_KEYS } from "../../src/cli/commands/dev/key-actions.js";
import { ASSUMPTIONS } from "../../src/emulator/instance/assumptions.js";
import { FIXED_ASSUMPTIONS } from "../../src/emulator/instance/fixed-assumptions.js";
import { resolveEmulatorOptions } from "../../src/emulator/instance/options.js";
import { codeIn, readDocument } from "./markdown.js";
import { knownOptions } from "./options.js";

const PAGE = readDocument("docs/emulator.md");

const rowsUnder = (heading: string): string[][] => PAGE.tablesUnder(heading)[0] ?? [];

test("the page lists every assumption as it stands in the code, in its order", () => {
  const listed = rowsUnder("What it assumes").map(([name, value, allowed, about, reason]) => [
    codeIn(name),
    codeIn(value),
    allowed,
    about,
    reason,
  ]);
  const assumed = Object.entries(ASSUMPTIONS).map(([name, { default: value, allowed, about, reason }]) => [
    name,
    value === "" ? '""' : String(value),
    allowed.text,
    about,
    reason,
  ]);
  expect(listed.length).toBeGreaterThan(20);
  expect(listed).toEqual(assumed);
});

test("the page lists the emulator's fixed assumptions, in the code's order", () => {
  const listed = (PAGE.tablesUnder("What it assumes")[1] ?? []).map(([name, ...rest]) => [codeIn(name), ...rest]);
  const assumed = Object.entries(FIXED_ASSUMPTIONS).map(([name, { is, reason }]) => [name, is, reason]);
  expect(listed.length).toBeGreaterThan(10);
  expect(listed).toEqual(assumed);
  const names = assumed.map(([name]) => name);
  expect(names.filter((name) => name !== undefined && name in ASSUMPTIONS)).toEqual([]);
});

test("the page lists the options that createEmulator knows, with their defaults", () => {
  const rows = rowsUnder("Options of the emulator");
  const known = knownOptions(() => resolveEmulatorOptions({ xxxxxxxxxxxxxxxx: 1 } as object));
  expect(rows.map(([name]) => codeIn(name)).sort()).toEqual(known.sort());
  const config: Record<string, unknown> = { ...resolveEmulatorOptions({}), seed: 1 };
  const literal = rows.filter(([, value]) => value?.startsWith("`"));
  expect(literal.length).toBeGreaterThan(3);
  expect(literal.map(([name, value]) => [codeIn(name), JSON.parse(codeIn(value))])).toEqual(
    literal.map(([name]) => [codeIn(name), config[codeIn(name)]]),
  );
});

test("the page lists the faults of deliveries", () => {
  const source = readFileSync(new URL("../../src/emulator/webhooks/faults/webhook-faults.ts", import.meta.url), "utf8");
  const [, union = ""] = /FaultKind = ([^;]+);/.exec(source) ?? [];
  const kinds = [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] ?? "");
  const [parameters = [], faults = []] = PAGE.tablesUnder("Faults");
  expect(faults.map(([kind]) => codeIn(kind)).sort()).toEqual(kinds.sort());
  const fault = parameters.map(([name]) => codeIn(name));
  const [, fields = ""] = /interface WebhookFault \{([^}]+)\}/.exec(source) ?? [];
  expect(fault.sort()).toEqual([...fields.matchAll(/^ {2}(\w+):/gm)].map((match) => match[1] ?? "").sort());
});

test("the page lists the keys of dev", () => {
  expect(rowsUnder("In one terminal: `dev`").map(([key]) => codeIn(key))).toEqual(
    ALL_KEYS.map(({ key, name = key }) => name),
  );
});
