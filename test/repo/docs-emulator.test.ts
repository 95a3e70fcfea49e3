import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MCP_TOOLS, type McpTool } from "../../src/api/mcp-tools.js";
import { OPERATIONS, type Operation } from "../../src/api/operations.js";
import type { Terminal } from "../../src/cli/console/terminal.js";
import { DEFAULT_EMULATOR_URL } from "../../src/cli/commands/emulator/control-commands.js";
import { printMcpClient } from "../../src/cli/commands/emulator/report-start.js";
import { ALL_KEYS } from "../../src/cli/commands/dev/key-actions.js";
import { assumptionsSchema } from "../../src/emulator/instance/assumption-options.js";
import { resolveEmulatorOptions } from "../../src/emulator/instance/options.js";
import { codeIn, readDocument } from "./markdown.js";
import { knownOptions } from "./options.js";

const PAGE = readDocument("docs/emulator.md");
const MCP = readDocument("docs/mcp.md");

const rowsUnder = (heading: string): string[][] => PAGE.tablesUnder(heading)[0] ?? [];

test("the page lists every assumption with its default, in the order of the code", () => {
  const listed = rowsUnder("What it assumes").map(([name, value]) => [codeIn(name), codeIn(value)]);
  const assumed = Object.entries(assumptionsSchema.parse({})).map(([name, value]) => [name, String(value)]);
  expect(listed).toEqual(assumed);
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

test("the page of the remote MCP lists its tools, with their operations, scopes and quota", () => {
  const tools = Object.entries<McpTool>(MCP_TOOLS).map(([name, { operation }]) => {
    const { method, path, scope, quotaUnits }: Operation = OPERATIONS[operation];
    const takes = path.includes("{") ? "`task_id`" : `\`${method} ${path}\``;
    return [`\`${name}\``, expect.stringContaining(takes), `\`${scope}\``, quotaUnits === 1 ? "1 call" : "none"];
  });
  expect(MCP.tablesUnder("The tools")[0]).toEqual(tools);
});

test("the page's configuration for clients of the remote MCP is what the emulator prints", () => {
  const { code } = MCP.block('"type": "http"');
  let printed: unknown;
  const paint = { bold: String, dim: String };
  const terminal = { paint, print: () => undefined, printJson: (value: unknown) => void (printed = value) };
  printMcpClient(`${DEFAULT_EMULATOR_URL}/mcp`, "sbk_…", terminal as unknown as Terminal);
  expect(JSON.parse(code)).toEqual(printed);
});
