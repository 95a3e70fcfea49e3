import { expect, test } from "vitest";
import { MCP_TOOLS } from "../../src/service/contract/mcp-tools.js";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";
import { runModule } from "./processes.js";

/** What the example with this in it prints, from the packed package. */
async function printed(holding: string, page = "testing"): Promise<string[]> {
  const { code } = readDocument(`docs/${page}.md`).block(holding);
  const client = "@modelcontextprotocol/client";
  const printedText = await runModule(install({ express: "express", [client]: client }), code);
  return printedText.split("\n");
}

test("the page's example of the emulator prints what it should", async () => {
  const [first, second] = await printed("createAccount");
  expect(first).toBe("200 49");
  expect(second).toMatch(/^2026-12-01T00:00:\d\d/);
});

test("the page's investigation in a test comes to its report", async () => {
  const [first] = await printed("startInvestigation");
  expect(first).toMatch(/^succeeded [1-9]/);
});

test("the page's agent finds the tools and comes to the report of an investigation", async () => {
  const [tools, outcome] = await printed("StreamableHTTPClientTransport", "mcp");
  expect(tools?.split(" ")).toEqual(Object.keys(MCP_TOOLS));
  expect(outcome).toMatch(/^succeeded [1-9]/);
});
