import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytesIn, pack } from "../package/installed.js";
import { readDocument } from "../repo/markdown.js";
import { envOf, fetchNodes } from "../toolchain/fetch-tools.js";
import { installIn, makeProject } from "../toolchain/workshop.js";

const PAGE = readDocument("docs/installing.md");

/** What an install leaves behind, without what a compiler makes. */
function costOf(folder: string) {
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
    packages: Record<string, object>;
  };
  const paths = Object.keys(packages).filter((path) => path !== "");
  const withScripts = paths.filter((path) => {
    const manifest = readFileSync(join(folder, path, "package.json"), "utf8");
    const { scripts = {} } = JSON.parse(manifest) as { scripts?: Record<string, string> };
    return ["preinstall", "install", "postinstall"].some((name) => name in scripts);
  });
  const modules = join(folder, "node_modules");
  const megabytes = (path: string): number => Math.round(bytesIn(path) / 1e6);
  return {
    packages: paths.length,
    megabytes: megabytes(modules),
    /** Of them, the database driver's. */
    driverMegabytes: megabytes(join(modules, "better-sqlite3")),
    /** The packages that run something when they are installed. */
    withScripts: withScripts.map((path) => path.replace("node_modules/", "")),
  };
}

const row = (driver: number): string[] | undefined =>
  PAGE.tablesUnder("What an install costs")[0]?.find(
    ([name]) => name === `better-sqlite3 ${driver}`,
  );

for (const node of await fetchNodes([24])) {
  if (!node.ok) {
    test.skip(`the cost of an install: ${node.reason}`);
    continue;
  }
  test.each([
    [12, ["better-sqlite3"]],
    [13, []],
  ] as const)(
    "an install with better-sqlite3 %i costs what the page says, and no other package runs a script",
    async (driver, scripts) => {
      const folder = makeProject(`cost-of-${driver}`);
      // A later 12 would stand beside the driver that the package asks for.
      const version = driver === 12 ? "12.9.0" : String(driver);
      const packages = [pack().tarball, "express", `better-sqlite3@${version}`];
      await installIn(folder, packages, envOf(node), "--ignore-scripts");
      const cost = costOf(folder);
      expect(cost.withScripts).toEqual(scripts);
      const [, ...said] = row(driver) ?? [];
      const measured = [cost.packages, cost.megabytes, cost.driverMegabytes];
      // Others' packages grow and shrink without us.
      for (const [index, value] of measured.entries()) {
        expect(
          Math.abs(Number.parseInt(said[index] ?? "") - value),
          `${said.join()} and ${measured.join()}`,
        ).toBeLessThan(Math.max(2, value / 10));
      }
    },
  );
}
