import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { compileIn } from "../package/compile.js";
import { manifestOf, pack, REPOSITORY } from "../package/installed.js";
import { run } from "../templates/commands.js";
import { fetchTools } from "../toolchain/fetch-tools.js";
import { makeProject } from "../toolchain/workshop.js";

const MINUTES = 60_000;

const ENTRIES = Object.keys(manifestOf(REPOSITORY).exports)
  .filter((path) => !path.endsWith(".json"))
  .map((path) => path.replace(".", "signalbox"));

/**
 * Reaches the declarations of every entry point. What a program can do with them is in
 * test/package/types.test.ts.
 */
const PROGRAM = ENTRIES.map(
  (entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};`,
).join("\n");

const RESOLUTIONS = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];

// 5.4 is the oldest that docs/installing.md names.
const compilers = await fetchTools({
  "typescript-5.4": "npm:typescript@~5.4.0",
  "typescript-7": "npm:typescript@7",
});

let folder = "";
beforeAll(async () => {
  if (compilers.some(({ ok }) => !ok)) return;
  folder = makeProject("types");
  const packages = [pack().tarball, "@types/node@20"];
  await run(folder, "npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages]);
}, 10 * MINUTES);

for (const compiler of compilers) {
  if (!compiler.ok) {
    test.skip(`${compiler.name}: ${compiler.reason}`);
    continue;
  }
  test.each(RESOLUTIONS)(
    `with TypeScript ${compiler.version} and $moduleResolution every declaration compiles, and @types/node is all it takes`,
    async (resolution) => {
      const tsc = join(compiler.folder, "bin/tsc");
      expect(await compileIn(folder, PROGRAM, { ...resolution, skipLibCheck: false }, tsc)).toBe(
        "",
      );
    },
    10 * MINUTES,
  );
}
