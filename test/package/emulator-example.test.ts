import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { readMarkdown } from "../repo/markdown.js";
import { install } from "./installed.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

test("the README's example of the emulator prints what it should", async () => {
  const { blocks } = readMarkdown(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));
  const example = blocks.find(({ heading, language }) => heading === "The emulator" && language === "js");
  const folder = install({ express: "express" });
  writeFileSync(join(folder, "example.mjs"), example?.code ?? "");
  const { stdout } = await promisify(execFile)(process.execPath, ["example.mjs"], { cwd: folder });
  const [first, second] = stdout.split("\n");
  expect(first).toBe("200 49");
  expect(second).toMatch(/^2026-12-01T00:00:\d\d/);
});
