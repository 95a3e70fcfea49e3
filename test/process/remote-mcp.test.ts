import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MCP_TOOLS } from "../../src/service/contract/mcp-tools.js";
import { outcomeOf } from "../cli/run-cli.js";
import { startEmulator } from "../emulator/start-emulator.js";
import { fetchTools, nodeSource } from "../toolchain/fetch-tools.js";
import { tempFolder } from "../unit/temp-folder.js";
import { startAuthorizingProxy } from "./authorizing-proxy.js";
import { conformanceHarness, findingsOf } from "./conformance.js";

/**
 * Tools that the harness calls without arguments, and those of ours that then do what it expects.
 */
const STAND_INS = {
  // Returns text.
  test_simple_text: "rank_ai_products",
  // Returns an error.
  test_error_handling: "get_promotion_investigation",
} satisfies Record<string, keyof typeof MCP_TOOLS>;

/** The revisions of the protocol: the last with a handshake, and the first without. */
const REVISIONS = ["2025-11-25", "2026-07-28"];

/** All that the harness does not see succeed, each part with the reason why it does not apply. */
const EXCEPTIONS = JSON.parse(
  readFileSync(new URL("conformance-exceptions.json", import.meta.url), "utf8"),
) as {
  reason: string;
  /** A scenario, or `scenario:check` where the scenario's other checks have to succeed. */
  of: string[];
  /** Absent: all that have the scenario. */
  revision?: string;
}[];
const LISTED = EXCEPTIONS.flatMap(({ of, revision }) =>
  of.map((name) => ({ name, scenario: name.replace(/:.*/, ""), revision })),
);

const [node, conformance, inspector] = await fetchTools({
  // The other two do not support Node 20.
  "node-22": nodeSource("22.23.3"),
  conformance: "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
  inspector: "npm:@modelcontextprotocol/inspector@2.12.0",
});

if (node?.ok !== true || conformance?.ok !== true || inspector?.ok !== true) {
  const reasons = [node, conformance, inspector].map((tool) =>
    tool?.ok === false ? tool.reason : "",
  );
  test.skip(
    `the remote MCP, by its protocol's conformance harness and Inspector: ${reasons.find(Boolean) ?? ""}`,
  );
} else {
  const program = join(node.folder, "bin/node");

  test("the conformance harness finds nothing but what is listed with its reason, and no scenario is left out", async () => {
    const { emulator, account } = await startEmulator();
    // The clock stands still, and in one minute a key has room for 120 requests.
    const keys = await Promise.all(
      Array.from({ length: 4 }, async () => (await account("pro")).key),
    );
    const url = await startAuthorizingProxy(emulator.mcpUrl, keys, STAND_INS);
    const harness = conformanceHarness(program, conformance);
    const ran = new Set<string>();
    for (const revision of REVISIONS) {
      const results = await harness.run(url, revision);
      for (const scenario of results.keys()) ran.add(scenario);
      const here = LISTED.filter(
        (entry) => results.has(entry.scenario) && (entry.revision ?? revision) === revision,
      );
      const expected = new Set(here.map(({ name }) => name));
      const findings = findingsOf(results, expected);
      const unlisted = [...findings].filter(([name]) => !expected.has(name));
      const stale = [...expected].filter((name) => !findings.has(name));
      expect({ revision, unlisted, stale }).toEqual({ revision, unlisted: [], stale: [] });
    }
    const scenarios = new Set(await harness.listScenarios());
    const listed = new Set(LISTED.map(({ scenario }) => scenario));
    expect([...scenarios].filter((name) => !ran.has(name) && !listed.has(name))).toEqual([]);
    expect([...listed].filter((name) => !scenarios.has(name))).toEqual([]);
  });

  // Both eras of the protocol: the conformance harness.
  test("the Inspector's command line lists the four tools, calls each, and exits with 5 for a tool error", async () => {
    const { emulator, account } = await startEmulator();
    const { key } = await account("pro");
    const launcher = join(inspector.folder, "clients/launcher/build/index.js");
    const header = `Authorization: Bearer ${key}`;
    const server = [launcher, "--cli", emulator.mcpUrl, "--transport", "http", "--header", header];
    const form = ["--protocol-era", "modern", "--format", "json"];
    // It writes to the home of its user.
    const env = { HOME: tempFolder() };
    const inspect = async (...args: string[]) => {
      const line = [...server, ...form, ...args];
      const { exitCode, stdout, stderr } = await outcomeOf(spawn(program, line, { env }));
      const result = stdout === "" ? undefined : (JSON.parse(stdout) as { result: object }).result;
      return { exitCode, result, stderr };
    };
    const call = (tool: keyof typeof MCP_TOOLS, given: object) =>
      inspect(
        "--method",
        "tools/call",
        "--tool-name",
        tool,
        "--tool-args-json",
        JSON.stringify(given),
      );
    const payloadOf = async (tool: keyof typeof MCP_TOOLS, given: object) => {
      const { exitCode, result, stderr } = await call(tool, given);
      expect(exitCode, stderr).toBe(0);
      return (result as { structuredContent: object }).structuredContent;
    };

    // `--strict` exits with 6 for a schema that some clients refuse.
    const list = await inspect("--method", "tools/list", "--strict");
    expect(list.exitCode, list.stderr).toBe(0);
    expect(list.result).toMatchObject({ tools: Object.keys(MCP_TOOLS).map((name) => ({ name })) });

    expect(await payloadOf("search_ai_demand", { limit: 2 })).toHaveProperty("items.length", 2);
    const ranked = await payloadOf("rank_ai_products", { limit: 2 });
    const { slug } = (ranked as { items: [{ slug: string }] }).items[0];
    const wish = { slug, idempotency_key: randomUUID(), confirm_usage: true };
    const { task_id } = (await payloadOf("start_promotion_investigation", wish)) as {
      task_id: string;
    };
    expect(await payloadOf("get_promotion_investigation", { task_id })).toMatchObject({ task_id });

    const refused = await call("get_promotion_investigation", { task_id: `task_${randomUUID()}` });
    expect(refused).toMatchObject({ exitCode: 5, result: { isError: true } });
    expect(JSON.stringify(refused.result)).toContain("TASK_NOT_FOUND");
  });
}
