import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ENTRIES, pack, PEERS } from "../package/installed.js";
import { readDocument } from "../repo/markdown.js";
import { run } from "../templates/commands.js";
import { envOf, fetchNodes, majorOf, type Tool } from "../toolchain/fetch-tools.js";
import { installIn, makeProject } from "../toolchain/workshop.js";
import { driverBinary } from "./driver-binary.js";
import { AS_PROMISED, runQuickStart } from "./run-quick-start.js";

const DRIVERS_OF_NODE = new Map([
  [20, [12]],
  [22, [12, 13]],
  [24, [13]],
  [26, [13]],
]);

/** They would end the process, at load or later. */
const REFUSED_DRIVERS_OF_NODE = new Map([
  [20, "better-sqlite3@13"],
  [24, "better-sqlite3@12"],
  [26, "better-sqlite3@12"],
]);

// A module with Express 5, and CommonJS with the oldest Express 4.
const FILES = {
  "app.mjs": readDocument("docs/start.md").block("import express").code,
  "app.cjs": readDocument("docs/start.md")
    .block(`require("express")`)
    .code.replace(`"express"`, `"express4"`),
};

/** Each way to load each entry point. */
const LOAD_ALL = ENTRIES.map(
  (entry) =>
    `await import("${entry}"); process.getBuiltinModule("module").createRequire(import.meta.url)("${entry}");`,
).join("\n");

/** As a person would, with its scripts; Express 4 beside 5. */
async function installWith(
  node: Tool,
  driver: number,
): Promise<{ folder: string; env: Record<string, string> }> {
  const folder = makeProject(`${node.name}-driver-${driver}`, FILES);
  const env = { ...envOf(node), ...(driver === 12 ? await driverBinary(node) : {}) };
  const packages = [
    pack().tarball,
    ...PEERS,
    "express4@npm:express@~4.18.0",
    `better-sqlite3@${driver}`,
  ];
  await installIn(folder, packages, env);
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
    // The driver of version 12 for Node 22 is compiled.
    beforeAll(async () => {
      ({ folder, env } = await installWith(node, driver));
    });

    test("it is what is installed", async () => {
      expect(versionIn(folder, "better-sqlite3")).toMatch(new RegExp(`^${driver}\\.`));
      expect(versionIn(folder, "express4")).toMatch(/^4\.18\./);
      expect((await run(folder, "node", ["--version"], env)).stdout.trim()).toBe(
        `v${node.version}`,
      );
    });

    test("every entry point is imported and required", async () => {
      await run(folder, "node", ["--input-type=module", "-e", LOAD_ALL], env);
    });

    test.each(Object.keys(FILES))("the quick start %s takes a delivery once", async (file) => {
      // Each with a file of its own for its inbox: it is told apart by the folder.
      const own = file.replace(/\W/g, "-");
      await run(folder, "mkdir", [own]);
      expect(await runQuickStart(join(folder, own), ["node", `../${file}`], env)).toEqual(
        AS_PROMISED,
      );
    });

    test("the demo sends all fixtures and hostile deliveries, and all is as expected", async () => {
      const { stdout } = await run(folder, "npx", ["signalbox", "demo"], env);
      expect(stdout).toContain("The demo passed");
    });
  });

  const refused = REFUSED_DRIVERS_OF_NODE.get(majorOf(node));
  const hasOwn = majorOf(node) >= 22;
  const result = hasOwn ? "Node's own SQLite is used" : "receiver and emulator say what to install";
  test.each(refused === undefined ? ["none"] : ["none", refused])(
    `Node ${node.version}, without better-sqlite3 (%s): ${result}`,
    async (driver) => {
      const folder = makeProject(`${node.name}-without-${driver}`, FILES);
      const packages = [pack().tarball, "express@5"];
      await (driver === "none"
        ? installIn(folder, packages, envOf(node), "--omit=optional")
        : installIn(folder, [...packages, driver], envOf(node), "--ignore-scripts"));
      if (hasOwn) {
        // Node 22 warns that its SQLite is experimental.
        const line = ["node", "--disable-warning=ExperimentalWarning", "app.mjs"];
        expect(await runQuickStart(folder, line, envOf(node))).toEqual(AS_PROMISED);
        return;
      }
      const message = /npm install better-sqlite3@12\.9\.0 /;
      await expect(
        run(folder, "npx", ["signalbox", "emulator", "--port", "0"], envOf(node)),
      ).rejects.toThrow(message);
      await expect(run(folder, "node", ["app.mjs"], envOf(node))).rejects.toThrow(message);
    },
  );
}
