import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { readMarkdown } from "../repo/markdown.js";
import { install } from "./installed.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** What the first example in JavaScript under a heading of the README prints, from the packed package. */
async function printed(heading: string): Promise<string[]> {
  const { blocks } = readMarkdown(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));
  const example = blocks.find((block) => block.heading === heading && block.language === "js");
  const folder = install({ express: "express" });
  writeFileSync(join(folder, "example.mjs"), example?.code ?? "");
  const { stdout } = await promisify(execFile)(process.execPath, ["example.mjs"], { cwd: folder, timeout: 30_000 });
  return stdout.split("\n");
}

test("the README's example of the emulator prints what it should", async () => {
  const [first, second] = await printed("The emulator");
  expect(first).toBe("200 49");
  expect(second).toMatch(/^2026-12-01T00:00:\d\d/);
});

test("the README's investigation in a test comes to its report", async () => {
  const [first] = await printed("An investigation in a test");
  expect(first).toMatch(/^succeeded [1-9]/);
});
