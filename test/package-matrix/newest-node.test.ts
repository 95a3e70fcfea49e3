import { expect, test } from "vitest";
import { REPOSITORY } from "../package/installed.js";
import { run } from "../templates/commands.js";
import { envOf, fetchNodes } from "../toolchain/fetch-tools.js";

/** What decides whether events are safe. */
const SUITES = ["test/contract", "test/faults/power-loss", "test/faults/processes/kill-at-call"];

// The better-sqlite3 of the lock file, made for Node 20, would crash this Node: its own SQLite is used.
const [node] = await fetchNodes([24]);
test.skipIf(node?.ok !== true)(
  "stores keep their contract, through kills and power cuts, on the newest LTS by the SQLite of Node",
  async () => {
    if (node?.ok !== true) return;
    const env = envOf(node);
    const script =
      "import('./dist/base/sqlite/sqlite-driver.js').then(({ loadDriver }) => console.log(loadDriver().name))";
    expect((await run(REPOSITORY, "node", ["-e", script], env)).stdout.trim()).toBe("node:sqlite");
    const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts"];
    await run(REPOSITORY, "node", [...vitest, ...SUITES], env);
  },
);
