import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { readDocument } from "../repo/markdown.js";
import { install } from "./installed.js";

// Test runners of their own, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

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
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--reporter=json", "--no-cache"];
  // The outer vitest must not be taken for the inner one's.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")),
  );
  const run = promisify(execFile)(process.execPath, args, { cwd: folder, env });
  const { stdout } = await run.catch((failure: { stdout: string }) => failure);
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
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name !== "NODE_TEST_CONTEXT"),
  );
  const args = ["--test", "--test-reporter=tap", "example.test.cjs"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
  expect(stdout).toMatch(/^# pass 1$/m);
  expect(stdout).toMatch(/^# fail 0$/m);
});
