import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ENTRIES, REPOSITORY } from "./installed.js";

const OWN_COMPILER = join(REPOSITORY, "node_modules/typescript/bin/tsc");

/** The beginning of a program: reaches the declarations of every entry point. */
export const IMPORT_ALL = ENTRIES.map(
  (entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};\n`,
).join("");

/**
 * Compiles a program in a folder as strict TypeScript. @returns the compiler's errors; "" for a
 * sound program
 */
export async function compileIn(
  folder: string,
  program: string,
  options: object,
  compiler = OWN_COMPILER,
): Promise<string> {
  writeFileSync(join(folder, "program.ts"), program);
  const compilerOptions = {
    target: "es2022",
    strict: true,
    noEmit: true,
    types: ["node"],
    ...options,
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["program.ts"] }),
  );
  const compiled = promisify(execFile)(process.execPath, [compiler, "-p", folder]);
  return (await compiled.catch((failure: { stdout: string }) => failure)).stdout;
}
