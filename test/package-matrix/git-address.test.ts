import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manifestOf, PEERS, REPOSITORY } from "../package/installed.js";
import { run } from "../templates/commands.js";
import { envOf, fetchNodes } from "../toolchain/fetch-tools.js";
import { installIn, makeProject } from "../toolchain/workshop.js";
import { driverBinary } from "./driver-binary.js";

for (const node of await fetchNodes([20])) {
  if (!node.ok) {
    test.skip(`a git address: ${node.reason}`);
    continue;
  }
  test("a git address brings what `postprepare` builds: the command, the types and every entry point", async () => {
    const folder = makeProject("from-a-git-address");
    const env = { ...envOf(node), ...(await driverBinary(node)) };
    // The last commit, as npm clones it.
    await installIn(folder, [`git+file://${REPOSITORY}`, ...PEERS], env);
    const own = join(folder, "node_modules/signalbox");
    const { version, exports } = manifestOf(own) as ReturnType<typeof manifestOf> & {
      version: string;
    };
    expect((await run(folder, "npx", ["signalbox", "--version"], env)).stdout.trim()).toBe(version);
    const entries = Object.entries(exports).filter(([, path]) => path.endsWith(".js"));
    expect(entries.length).toBeGreaterThan(5);
    const imports = entries
      .map(([name]) => `await import("${name.replace(".", "signalbox")}");`)
      .join("\n");
    await run(folder, "node", ["--input-type=module", "-e", imports], env);
    expect(
      entries.filter(([, path]) => !existsSync(join(own, path.replace(/js$/, "d.ts")))),
    ).toEqual([]);
  });
}
