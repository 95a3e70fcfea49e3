import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pack } from "../package/installed.js";
import { readDocument } from "../repo/markdown.js";
import { run } from "../templates/commands.js";
import { envOf, fetchNodes, fetchTools, majorOf, type Tool } from "../toolchain/fetch-tools.js";
import { CACHES, makeProject, WORKSHOP } from "../toolchain/workshop.js";
import { driverBinary } from "./driver-binary.js";
import { AS_PROMISED, runQuickStart } from "./run-quick-start.js";

interface PackageManager {
  name: string;
  /** What npm is to fetch. */
  source: string;
  /** The program inside of it. */
  program: string;
  /** Whether the program is a script for Node. */
  isScript: boolean;
  /** The oldest Node that runs it. */
  leastNode: number;
  /** What its lines say before the name of a tarball. */
  prefix: string;
  /** How an installed command is run. */
  exec: readonly string[];
  /** How Node is run; needed where nothing is in node_modules. */
  node: readonly string[];
  /** Files of a project that say how to install. */
  settings: Readonly<Record<string, string>>;
  /** What docs/installing.md says for a Node that needs better-sqlite3 12, as files. */
  forDriver12: Readonly<Record<string, string>>;
}

const OS = process.platform === "win32" ? "windows" : process.platform;
const BUN = `@oven/bun-${OS}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
const APP = { name: "app", private: true, type: "module" };
const block = (holding: string): string => readDocument("docs/installing.md").block(holding).code;
const manifestWith = (text: string): string =>
  JSON.stringify({ ...APP, ...(JSON.parse(text) as object) });
const FOR_PNPM = { "pnpm-workspace.yaml": block("onlyBuiltDependencies") };
const FOR_YARN = { "package.json": manifestWith(block("resolutions")) };
const FOR_BUN = { "package.json": manifestWith(block("trustedDependencies")) };

const npm = {
  isScript: true,
  prefix: "",
  exec: ["npx"],
  node: ["node"],
  settings: {},
  forDriver12: {},
};
const pnpm = { ...npm, exec: ["pnpm", "exec"], forDriver12: FOR_PNPM };
const yarn = {
  ...npm,
  exec: ["yarn"],
  prefix: "signalbox@file:",
  forDriver12: FOR_YARN,
  program: "bin/yarn.js",
};
const berry = (nodeLinker: string) => ({
  ...yarn,
  source: "npm:@yarnpkg/cli-dist@4",
  leastNode: 20,
  // A lock of its own: the folder is not taken for a part of another project.
  settings: {
    ".yarnrc.yml": `nodeLinker: ${nodeLinker}\nenableGlobalCache: false\n`,
    "yarn.lock": "",
  },
});

const MANAGERS: readonly PackageManager[] = [
  { ...npm, name: "npm-11", source: "npm:npm@11", program: "bin/npm-cli.js", leastNode: 20 },
  { ...npm, name: "npm-12", source: "npm:npm@12", program: "bin/npm-cli.js", leastNode: 24 },
  { ...pnpm, name: "pnpm-10", source: "npm:pnpm@10", program: "bin/pnpm.cjs", leastNode: 20 },
  { ...pnpm, name: "pnpm-11", source: "npm:pnpm@11", program: "bin/pnpm.mjs", leastNode: 24 },
  {
    ...pnpm,
    name: "pnpm-12",
    source: `npm:@pnpm/exe.${process.platform}-${process.arch}@12`,
    program: "pnpm",
    isScript: false,
    leastNode: 20,
  },
  { ...yarn, name: "yarn-1", source: "npm:yarn@1", leastNode: 20 },
  { ...berry("node-modules"), name: "yarn-4" },
  { ...berry("pnp"), name: "yarn-4-pnp", node: ["yarn", "node"] },
  {
    ...npm,
    name: "bun-1",
    source: `npm:${BUN}@1`,
    program: "bin/bun",
    isScript: false,
    leastNode: 20,
    forDriver12: FOR_BUN,
  },
];

/** A folder in which the program has its everyday name, and nothing else is. */
function namedProgram({ name, program, isScript }: PackageManager, tool: Tool): string {
  const folder = join(WORKSHOP, "bin", name);
  mkdirSync(folder, { recursive: true });
  const [everyday = name] = name.split("-");
  const line = `${isScript ? "node " : ""}'${join(tool.folder, program)}'`;
  writeFileSync(join(folder, everyday), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
  return folder;
}

/** Such a Node cannot load better-sqlite3 13. */
const needs12 = (node: Tool): boolean => majorOf(node) < 22;

interface Installed {
  folder: string;
  env: Record<string, string>;
}

/** Types the quick start's line, with this package's tarball for its name in the registry. */
async function installWith(
  manager: PackageManager,
  tool: Tool,
  node: Tool,
  settings: Readonly<Record<string, string>>,
): Promise<Installed> {
  const files = {
    "app.js": readDocument("docs/start.md").block("import express").code,
    ...manager.settings,
    ...settings,
  };
  const folder = makeProject(
    `${manager.name}-on-${node.name}-${Object.keys(settings).length}`,
    files,
  );
  const onNode = envOf(node);
  const PATH = `${namedProgram(manager, tool)}:${onNode["PATH"] ?? ""}`;
  const env = { ...CACHES, ...onNode, PATH, ...(needs12(node) ? await driverBinary(node) : {}) };
  const [everyday = "npm"] = manager.name.split("-");
  const add = everyday === "npm" ? "install" : "add";
  await run(folder, everyday, [add, `${manager.prefix}${pack().tarball}`, "express"], env);
  return { folder, env };
}

/** As the app itself would find it, wherever it is. */
async function driverVersion(
  { folder, env }: Installed,
  { node: [command = "node", ...args] }: PackageManager,
) {
  const code = `const { createRequire } = require("node:module");
    const from = createRequire(require.resolve("signalbox"));
    console.log(from("better-sqlite3/package.json").version)`;
  const line = [...args, "--input-type=commonjs", "-e", code];
  return (await run(folder, command, line, env)).stdout.trim();
}

const found = await fetchNodes([20, 24]);
const sources = Object.fromEntries(MANAGERS.map(({ name, source }) => [name, source]));
const tools = new Map((await fetchTools(sources)).map((tool) => [tool.name, tool]));

for (const manager of MANAGERS) {
  const tool = tools.get(manager.name);
  for (const node of found) {
    if (!node.ok || tool?.ok !== true) {
      test.skip(`${manager.name} on ${node.name}: ${node.ok ? "no package manager" : node.reason}`);
      continue;
    }
    if (majorOf(node) < manager.leastNode) continue;
    const title = `${manager.name} (${tool.version}) on Node ${node.version}`;
    test(`${title}: the quick start is installed as the page says, and takes a delivery once`, async () => {
      const installed = await installWith(
        manager,
        tool,
        node,
        needs12(node) ? manager.forDriver12 : {},
      );
      expect(await driverVersion(installed, manager)).toMatch(needs12(node) ? /^12\./ : /^13\./);
      const { folder, env } = installed;
      expect(await runQuickStart(folder, [...manager.node, "app.js"], env)).toEqual(AS_PROMISED);
      const [command = "npx", ...args] = manager.exec;
      const { stdout } = await run(folder, command, [...args, "signalbox", "--version"], env);
      expect(stdout).toMatch(/^\d+\.\d+\.\d+$/m);
    });
  }
}
