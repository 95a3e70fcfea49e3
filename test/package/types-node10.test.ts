import { expect, test, vi } from "vitest";
import { compileIn } from "./compile.js";
import { install, manifestOf, REPOSITORY } from "./installed.js";

// The compiler, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const { exports } = manifestOf(REPOSITORY);
const ENTRIES = Object.keys(exports).flatMap((path) =>
  path.endsWith(".json") ? [] : [path.replace(".", "signalbox")],
);

// What TypeScript before 6.0 does with "module": "commonjs", as most Express apps have it. It knows
// no "exports".
test("every entry point has its types where the compiler reads no exports", async () => {
  const folder = install({ "@types/node": "@types/node" });
  const lines = ENTRIES.map(
    (entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};\n`,
  );
  const uses =
    'import { createReceiver } from "signalbox";\n// @ts-expect-error it has no store\ncreateReceiver({});\n';
  const node10 = {
    module: "commonjs",
    moduleResolution: "node10",
    ignoreDeprecations: "6.0",
    skipLibCheck: true,
  };
  expect(await compileIn(folder, `${lines.join("")}${uses}`, node10)).toBe("");
});
