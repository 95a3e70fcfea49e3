import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseOptions } from "./options.js";
import { startProcess } from "./processes/start-process.js";
import { renderTables, withBenchTables } from "./report/tables.js";
import { runParts, tablesOf, type BenchResult } from "./run-parts.js";

// From the compiled bench to what it was compiled from.
const BENCH = join(import.meta.dirname, "..");
const PAGE = join(BENCH, "../../docs/speed.md");
const RESULT = join(BENCH, "result.json");

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
  const text = options.json === true ? JSON.stringify(result, null, 2) : `\n${await renderTables(tablesOf(result))}`;
  process.stdout.write(`${text}\n`);
  if (options.keep === true) await keep(result);
} catch (error) {
  process.stderr.write(`\nThe run failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await generator.stop();
  removeFiles();
}

/** Parts that did not run this time stay as they were. */
async function keep(result: BenchResult): Promise<void> {
  const before = existsSync(RESULT) ? (JSON.parse(readFileSync(RESULT, "utf8")) as BenchResult) : {};
  const all = { ...before, ...result };
  writeFileSync(PAGE, await withBenchTables(readFileSync(PAGE, "utf8"), tablesOf(all)));
  writeFileSync(RESULT, `${JSON.stringify(all, null, 2)}\n`);
}
