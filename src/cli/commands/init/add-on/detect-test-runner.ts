import type { Manifest } from "./read-app.js";

export type TestRunner = "vitest" | "jest" | "mocha" | "node";

const RUNNERS = ["vitest", "jest", "mocha"] as const;

/** By the script `test`, else by what is there; Node's own where nothing is. */
export function detectTestRunner({ scripts, dependencies }: Manifest): TestRunner {
  const script = scripts["test"] ?? "";
  const named = RUNNERS.find((runner) => new RegExp(`\\b${runner}\\b`).test(script));
  if (named !== undefined) return named;
  if (/\b(?:node|tsx)\b.*--test\b/.test(script)) return "node";
  return RUNNERS.find((runner) => runner in dependencies) ?? "node";
}

/** Jest loads ES modules only where it is told to, and signalbox is made of them. */
export function isJestWithoutEsm({ scripts }: Manifest, runner: TestRunner, isEsm: boolean): boolean {
  const isTold = Object.values(scripts).some((script) => script.includes("--experimental-vm-modules"));
  return runner === "jest" && !(isEsm && isTold);
}
