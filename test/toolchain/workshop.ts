import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { run } from "../templates/commands.js";

/** Everything that a test file fetches, compiles and installs; gone when the file is over. */
export const WORKSHOP = mkdtempSync(join(tmpdir(), "signalbox-workshop-"));
// For the test file that imports this. Some hundred thousand files: Node's own way takes minutes.
afterAll(() => {
  execFileSync("rm", ["-rf", WORKSHOP]);
}, 600_000);

/** What package managers keep of what they fetched stays in the workshop, too. */
export const CACHES: Readonly<Record<string, string>> = {
  XDG_DATA_HOME: join(WORKSHOP, "caches/data"),
  XDG_CACHE_HOME: join(WORKSHOP, "caches/cache"),
  XDG_STATE_HOME: join(WORKSHOP, "caches/state"),
  YARN_CACHE_FOLDER: join(WORKSHOP, "caches/yarn"),
  YARN_GLOBAL_FOLDER: join(WORKSHOP, "caches/berry"),
  BUN_INSTALL_CACHE_DIR: join(WORKSHOP, "caches/bun"),
  YARN_ENABLE_TELEMETRY: "0",
  // No question, and no update of itself.
  CI: "1",
};

/**
 * For what is compiled only to be loaded: the optimizer takes most of the time. librdkafka asks
 * make for as many compilers as it has files, which starves every other test, so that the load of
 * the machine limits them.
 */
export const COMPILE_QUICKLY: Readonly<Record<string, string>> = {
  npm_config_build_from_source: "true",
  CFLAGS: "-O0",
  CXXFLAGS: "-O0",
  MAKEFLAGS: `-l${availableParallelism() + 1}`,
};

/** An empty project, but for these files. */
export function makeProject(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = join(WORKSHOP, name);
  const all = {
    "package.json": JSON.stringify({ name: "app", private: true, type: "module" }),
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** As a person would install them. @param env what else npm is to know */
export async function installIn(
  folder: string,
  packages: readonly string[],
  env: Record<string, string> = {},
  ...options: readonly ("--ignore-scripts" | "--omit=optional")[]
): Promise<void> {
  await run(folder, "npm", ["install", "--no-audit", "--no-fund", ...options, ...packages], env);
}
