// Lists the rows of the service's document that no test names: `npm run rows`. Ends with 1 when there are any.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const TESTS = fileURLToPath(new URL("..", import.meta.url));

// Node 20 reads no TypeScript; the file imports nothing, so that its text alone is a module.
const source = readFileSync(new URL("document-rows.ts", import.meta.url), "utf8");
const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext } });
const { LATER, ROW_IDS, rowsNamedIn, rowsWithoutTest } = await import(
  `data:text/javascript,${encodeURIComponent(outputText)}`
);

const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
const named = new Set(files.flatMap((path) => rowsNamedIn(readFileSync(`${TESTS}${path}`, "utf8"))));
const missing = rowsWithoutTest(named);

for (const id of missing) console.log(id);
console.error(
  `${ROW_IDS.length} rows, ${Object.keys(LATER).length} of parts that are built later, ${missing.length} without a test`,
);
if (missing.length > 0) process.exitCode = 1;
