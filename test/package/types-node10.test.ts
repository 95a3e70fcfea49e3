import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { install, manifestOf, REPOSITORY } from "./installed.js";

// The compiler, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const { exports } = manifestOf(REPOSITORY);
const ENTRIES = Object.keys(exports).flatMap((path) =>
  path.endsWith(".json") ? [] : [path.replace(".", "signalbox")],
);

// What TypeScript before 6.0 does with "module": "commonjs", as most Express apps have it. It knows no "exports".
test("every entry point has its types where the compiler reads no exports", async () => {
  const folder = install({ "@types/node": "@types/node" });
  const lines = ENTRIES.map((entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};\n`);
  const uses =
    'import { createReceiver } from "signalbox";\n// @ts-expect-error it has no store\ncreateReceiver({});\n';
  writeFileSync(join(folder, "program.ts"), `${lines.join("")}${uses}`);
  const compilerOptions = {
    module: "commonjs",
    moduleResolution: "node10",
    ignoreDeprecations: "6.0",
    target: "es2022",
    strict: true,
    noEmit: true,
    types: ["node"],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  const compiler = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  const compiled = await promisify(execFile)(process.execPath, [compiler, "-p", folder]).catch(
    (failure: { stdout: string }) => failure,
  );
  expect(compiled.stdout).toBe("");
});
