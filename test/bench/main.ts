import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseOptions } from "./options.js";
import { startProcess } from "./processes/start-process.js";
import { renderTables, type BenchResult } from "./report/tables.js";
import { runParts } from "./run-parts.js";

// From the compiled bench to what it was compiled from.
const RESULT = join(import.meta.dirname, "../../result.json");

const options = parseOptions(process.argv);
const under = mkdtempSync(join(options.dir ?? import.meta.dirname, "data-"));
const removeFiles = (): void => rmSync(under, { recursive: true, force: true });
// Ctrl-C reaches the other processes by itself.
process.once("SIGINT", () => {
  removeFiles();
  process.exit(130);
});
const generator = startProcess("load/generator.js");
try {
  const progress = (text: string): void => void process.stderr.write(`${text}\n`);
  const result = await runParts({ options, generator, under, progress });
  const text =
    options.json === true ? JSON.stringify(result, null, 2) : `\n${await renderTables(result)}`;
  process.stdout.write(`${text}\n`);
  if (options.keep === true) {
    // Parts that did not run this time stay as they were.
    const before = JSON.parse(readFileSync(RESULT, "utf8")) as BenchResult;
    writeFileSync(RESULT, `${JSON.stringify({ ...before, ...result }, null, 2)}\n`);
  }
} catch (error) {
  process.stderr.write(
    `\nThe run failed: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
} finally {
  await generator.stop();
  removeFiles();
}
