import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { compileIn, IMPORT_ALL } from "../package/compile.js";
import { pack } from "../package/installed.js";
import { fetchTools } from "../toolchain/fetch-tools.js";
import { installIn, makeProject } from "../toolchain/workshop.js";

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
  await installIn(folder, packages, {}, "--ignore-scripts");
});

for (const compiler of compilers) {
  if (!compiler.ok) {
    test.skip(`${compiler.name}: ${compiler.reason}`);
    continue;
  }
  test.each(RESOLUTIONS)(
    `with TypeScript ${compiler.version} and $moduleResolution every declaration compiles, and @types/node is all it takes`,
    async (resolution) => {
      const tsc = join(compiler.folder, "bin/tsc");
      expect(await compileIn(folder, IMPORT_ALL, { ...resolution, skipLibCheck: false }, tsc)).toBe(
        "",
      );
    },
  );
}
