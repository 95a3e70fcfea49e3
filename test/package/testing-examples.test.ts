import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDocument } from "../repo/markdown.js";
import { run } from "../templates/commands.js";
import { install } from "./installed.js";

const { blocks } = readDocument("docs/testing.md");

interface VitestReport {
  numTotalTests: number;
  testResults: {
    status: string;
    message: string;
    assertionResults: { status: string; title: string }[];
  }[];
}

/** Runs them as a user's project would, on the packed package, with vitest. */
async function runWithVitest(sources: readonly string[]): Promise<VitestReport> {
  const folder = install({ vitest: "vitest", express: "express", supertest: "supertest" });
  for (const [index, source] of sources.entries())
    writeFileSync(join(folder, `example-${index}.test.ts`), source);
  // It fails when a test does; its report is what counts.
  const line = "node_modules/vitest/vitest.mjs run --reporter=json --no-cache || true";
  const { stdout } = await run(folder, "sh", ["-c", `node ${line}`]);
  return JSON.parse(stdout) as VitestReport;
}

test("the page's examples of tests pass with vitest, on the packed package", async () => {
  const examples = blocks.filter(({ language }) => language === "ts").map(({ code }) => code);
  expect(examples.length).toBeGreaterThan(3);
  const { numTotalTests, testResults } = await runWithVitest(examples);
  const failed = testResults.filter(({ status }) => status !== "passed");
  expect(failed.map(({ message, assertionResults }) => [message, assertionResults])).toEqual([]);
  expect(testResults).toHaveLength(examples.length);
  // One for each signal type, and one for a type to come.
  expect(numTotalTests).toBe(examples.length + 38);
});

test("a handler that fails turns such a test red at its waitForEvent, with what the handler threw", async () => {
  const first = blocks.find(({ language }) => language === "ts");
  const failing = (first?.code ?? "")
    .replace(
      /^const onSignal = [^]*?;$/m,
      `const onSignal = async (_signal: Signal) => { throw new Error("no table"); };`,
    )
    .replace(
      "testReceiver({ onSignal })",
      "testReceiver({ onSignal, handoff: { maxAttempts: 1 } })",
    );
  const { testResults } = await runWithVitest([failing]);
  expect(JSON.stringify(testResults)).toMatch(/is dead .*Error: no table/);
});

test("the page's example for the test runner of Node passes, in CommonJS", async () => {
  const example = readDocument("docs/testing.md").block("node:test");
  const folder = install();
  writeFileSync(join(folder, "example.test.cjs"), example.code);
  const args = ["--test", "--test-reporter=tap", "example.test.cjs"];
  const { stdout } = await run(folder, process.execPath, args);
  expect(stdout).toMatch(/^# pass 1$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});
