import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { manifestOf, pack, REPOSITORY } from "../package/installed.js";
import { readDocument } from "../repo/markdown.js";
import { run } from "../templates/commands.js";
import { driverBinary } from "./driver-binary.js";
import { AS_PROMISED, runQuickStart } from "./run-quick-start.js";
import { envOf, fetchNodes, majorOf, type Tool } from "../toolchain/fetch-tools.js";
import { makeProject } from "../toolchain/workshop.js";

const MINUTES = 60_000;

const DRIVERS_OF_NODE = new Map([
  [20, [12]],
  [22, [12, 13]],
  [24, [13]],
  [26, [13]],
]);

/** They would end the process, at load or later. */
const REFUSED_DRIVERS_OF_NODE = new Map([
  [20, 13],
  [24, 12],
  [26, 12],
]);

const QUICK_STARTS = {
  "app.mjs": readDocument("docs/start.md").block("import express").code,
  "app.cjs": readDocument("docs/start.md").block(`require("express")`).code,
};
const FILES = {
  ...QUICK_STARTS,
  ...Object.fromEntries(
    Object.entries(QUICK_STARTS).map(([name, code]) => [`4-${name}`, code.replace(`"express"`, `"express4"`)]),
  ),
};

const ENTRIES = Object.entries(manifestOf(REPOSITORY).exports).filter(([, path]) => path.endsWith(".js"));

/** Prints the names that each entry point has, one way and the other. */
const NAMES_OF_ALL = `
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const entries = ${JSON.stringify(ENTRIES.map(([path]) => path.replace(".", "signalbox")))};
const imported = [];
const required = [];
for (const entry of entries) {
  imported.push(Object.keys(await import(entry)).sort());
  required.push(Object.keys(require(entry)).sort());
}
console.log(JSON.stringify({ imported, required }));
`;

/** As a person would, with its scripts; Express 4 beside 5. */
async function installWith(node: Tool, driver: number): Promise<{ folder: string; env: Record<string, string> }> {
  const folder = makeProject(`${node.name}-driver-${driver}`, { ...FILES, "names.mjs": NAMES_OF_ALL });
  const env = { ...envOf(node), ...(await driverBinary(node)) };
  const packages = [pack().tarball, "express@5", "express4@npm:express@~4.18.0", `better-sqlite3@${driver}`];
  await run(folder, "npm", ["install", "--no-audit", "--no-fund", ...packages], env);
  return { folder, env };
}

function versionIn(folder: string, name: string): string {
  const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

for (const node of await fetchNodes([20, 22, 24, 26])) {
  if (!node.ok) {
    test.skip(`${node.name}: ${node.reason}`);
    continue;
  }
  const drivers = DRIVERS_OF_NODE.get(majorOf(node)) ?? [];
  describe.each(drivers)(`Node ${node.version}, better-sqlite3 %i`, (driver) => {
    let folder = "";
    let env: Record<string, string> = {};
    // A driver of version 12 may have to be compiled.
    beforeAll(async () => {
      ({ folder, env } = await installWith(node, driver));
    }, 10 * MINUTES);

    test("it is what is installed", async () => {
      expect(versionIn(folder, "better-sqlite3")).toMatch(new RegExp(`^${driver}\\.`));
      expect(versionIn(folder, "express4")).toMatch(/^4\.18\./);
      expect((await run(folder, "node", ["--version"], env)).stdout.trim()).toBe(`v${node.version}`);
    });

    test("every entry point is imported and required, with all its names", async () => {
      const { stdout } = await run(folder, "node", ["names.mjs"], env);
      const { imported, required } = JSON.parse(stdout) as Record<"imported" | "required", string[][]>;
      const expected = await Promise.all(
        ENTRIES.map(async ([, path]) => Object.keys((await import(join(REPOSITORY, path))) as object).sort()),
      );
      expect(imported).toEqual(expected);
      expect(required.map((names) => names.filter((name) => name !== "__esModule"))).toEqual(expected);
    });

    test.each(Object.keys(FILES))("the quick start %s takes a delivery once", async (file) => {
      // Each with a file of its own for its inbox: it is told apart by the folder.
      const own = file.replace(/\W/g, "-");
      await run(folder, "mkdir", [own]);
      expect(await runQuickStart(join(folder, own), ["node", `../${file}`], env)).toEqual(AS_PROMISED);
    });

    test("the demo sends all fixtures and hostile deliveries, and all is as expected", async () => {
      const { stdout } = await run(folder, "npx", ["signalbox", "demo"], env);
      expect(stdout).toContain("The demo passed");
    });
  });

  const refused = REFUSED_DRIVERS_OF_NODE.get(majorOf(node));
  if (refused === undefined) continue;
  test(
    `Node ${node.version}, better-sqlite3 ${refused}: receiver and emulator say what to install`,
    { timeout: 5 * MINUTES },
    async () => {
      const folder = makeProject(`${node.name}-refused-driver`, QUICK_STARTS);
      const packages = [pack().tarball, "express@5", `better-sqlite3@${refused}`];
      await run(folder, "npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], envOf(node));
      for (const command of [
        ["npx", "signalbox", "emulator", "--port", "0"],
        ["node", "app.mjs"],
      ] as const) {
        const failed = run(folder, command[0], command.slice(1), envOf(node));
        await expect(failed).rejects.toThrow(/better-sqlite3 \S+ crashes Node .*npm install better-sqlite3@1[23]/s);
      }
    },
  );
}
