import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { expect, test, vi } from "vitest";
import type { AddOnPlan } from "../../src/cli/commands/init/add-on/describe-add-on.js";
import { planAddOn } from "../../src/cli/commands/init/add-on/plan-add-on.js";
import { REPOSITORY } from "../package/installed.js";
import { STRICT } from "./add-on-apps.js";
import { tempFiles } from "../cli/temp-files.js";

// Runs a compiler for each kind, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const RUNNERS = ["node", "vitest", "jest", "mocha"] as const;
const KINDS = ["ts-esm", "ts-cjs", "js-esm", "js-cjs"] as const;

type Runner = (typeof RUNNERS)[number];
type Kind = (typeof KINDS)[number];

const isTypeScript = (kind: Kind): boolean => kind.startsWith("ts");
const isEsm = (kind: Kind): boolean => kind.endsWith("esm");

/** The add-on of the smallest app of a kind; its files in a folder of the runner's name. */
async function planFor(kind: Kind, runner: Runner): Promise<AddOnPlan> {
  const manifest = {
    type: isEsm(kind) ? "module" : "commonjs",
    // Jest as people run it for ES modules; without that it cannot load any.
    scripts: { test: runner === "jest" && isEsm(kind) ? "NODE_OPTIONS=--experimental-vm-modules jest" : runner },
    dependencies: { express: "^5.0.0" },
  };
  const express = kind === "js-cjs" ? 'const express = require("express");' : 'import express from "express";';
  const app = tempFiles({
    "package.json": JSON.stringify(manifest),
    [isTypeScript(kind) ? "app.ts" : "app.js"]: `${express}\nconst app = express();\napp.listen(3000);\n`,
    ...(isTypeScript(kind) && {
      "tsconfig.json": JSON.stringify({ compilerOptions: { module: isEsm(kind) ? "nodenext" : "commonjs" } }),
    }),
  });
  return planAddOn(app, { into: runner });
}

const CASES = KINDS.flatMap((kind) => RUNNERS.map((runner) => [kind, runner] as const));

test.each(CASES)("%s with %s: its own language and module system, as Prettier formats it", async (kind, runner) => {
  const { files } = await planFor(kind, runner);
  expect(files).toHaveLength(3);
  for (const { path, content } of files) {
    expect(path.endsWith(isTypeScript(kind) ? ".ts" : ".js"), path).toBe(true);
    // Vitest cannot be had by `require`.
    const isRequiring = kind === "js-cjs" && !(runner === "vitest" && path.includes("router.test"));
    expect(/^import |^export /m.test(content), path).toBe(!isRequiring);
    expect(/\brequire\(|module\.exports/.test(content), path).toBe(isRequiring);
    expect(/import type|: (Signal|Handoff|ReceiverOptions)\b|[)}] as /.test(content)).toBe(isTypeScript(kind));
    for (const printWidth of [80, 120]) expect(await format(content, { filepath: path, printWidth })).toBe(content);
  }
});

test.each(KINDS)("%s: the compiler and the linter find nothing", async (kind) => {
  const folder = await folderOf(kind);
  // The compiler finds the mistake that is there to be found, and no other.
  const errors = run(folder, "typescript/bin/tsc", "-p", ".").trimEnd().split("\n");
  expect(errors).toEqual([expect.stringMatching(/^mistake\.[jt]s.* TS2322: /)]);
  const linted = run(folder, "oxlint/bin/oxlint", "--deny-warnings", "--disable-nested-config", ...RUNNERS);
  expect(linted).toContain("Found 0 warnings and 0 errors.");
});

/** The files for every runner, with what they import, and one with a mistake. */
async function folderOf(kind: Kind): Promise<string> {
  const plans = await Promise.all(RUNNERS.map((runner) => planFor(kind, runner)));
  const files = plans.flatMap((plan) => plan.files);
  const folder = tempFiles(Object.fromEntries(files.map(({ path, content }) => [path, content])));
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  symlinkSync(REPOSITORY, join(folder, "node_modules/signalbox"));
  for (const name of ["express", "vitest", "@types/express", "@types/node"]) {
    symlinkSync(join(REPOSITORY, "node_modules", name), join(folder, "node_modules", name));
  }
  const lint = JSON.parse(readFileSync(join(REPOSITORY, ".oxlintrc.json"), "utf8")) as { options: object };
  // Few lint JavaScript by its types; `void` before each test would only puzzle the others.
  lint.options = { typeAware: isTypeScript(kind) };
  writeFileSync(join(folder, ".oxlintrc.json"), JSON.stringify(lint));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: isEsm(kind) ? "module" : "commonjs" }));
  // What @types/jest and @types/mocha declare.
  const globals = ["it", "beforeEach", "afterEach"].map((name) => `declare const ${name}: (...args: any[]) => void;\n`);
  writeFileSync(join(folder, "globals.d.ts"), globals.join(""));
  const compilerOptions = {
    module: kind === "ts-cjs" ? "commonjs" : "nodenext",
    target: "es2023",
    types: ["node"],
    ...STRICT,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    ...(kind === "ts-esm" && { verbatimModuleSyntax: true }),
  };
  // In JavaScript the test says not what an address is.
  const checked = files.map(({ path }) => path).filter((path) => isTypeScript(kind) || !/router\.\w+\./.test(path));
  const mistake = isTypeScript(kind) ? "mistake.ts" : "mistake.js";
  const typed = isTypeScript(kind) ? "export const n: number = '';\n" : "/** @type {number} */\nexports.n = '';\n";
  writeFileSync(join(folder, mistake), kind === "js-esm" ? typed.replace("exports.n", "export const n") : typed);
  const config = { compilerOptions, files: [...checked, "globals.d.ts", mistake] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  return folder;
}

function run(cwd: string, tool: string, ...args: string[]): string {
  const command = [join(REPOSITORY, "node_modules", tool), ...args];
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd, encoding: "utf8" });
  return stdout + stderr;
}
