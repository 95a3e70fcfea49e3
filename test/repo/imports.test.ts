import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../unit/temp-folder.js";
import { circlesIn, folderGraph, importGraph, readSources } from "./import-graph.js";

const ROOT = join(import.meta.dirname, "../..");
const FILES = importGraph(readSources());

test("no files of src import each other in a circle", () => {
  expect(circlesIn(FILES)).toEqual([]);
});

test("no folders of src import each other in a circle", () => {
  expect(circlesIn(folderGraph(FILES))).toEqual([]);
});

test.each([
  ["a value", { "a/x.ts": 'import { y } from "./y.js";', "a/y.ts": 'import { x } from "./x.js";' }],
  ["a type", { "a/x.ts": 'import type { Y } from "./y.js";', "a/y.ts": 'export { x } from "./x.js";' }],
  ["a .tsx file", { "a/x.ts": 'import { y } from "./y.js";', "a/y.tsx": 'import { x } from "./x.js";' }],
  ["import()", { "a/x.ts": 'const y = await import("./y.js");', "a/y.ts": 'type X = import("./x.js").X;' }],
])("a circle of files by %s is found", (_, texts) => {
  const paths = Object.keys(texts).map((path) => `src/${path}`);
  expect(circlesIn(importGraph(inSrc(texts)))).toEqual([paths]);
});

test.each([
  [
    "two folders",
    { "a/x.ts": 'import { y } from "../b/y.js";', "b/y.ts": "", "b/z.ts": 'import "../a/w.js";', "a/w.ts": "" },
  ],
  [
    "three folders",
    {
      "a/x.ts": 'import "../b/x.js";',
      "b/x.ts": "",
      "b/y.ts": 'import type {} from "../c/x.js";',
      "c/x.ts": 'import("../a/y.js");',
      "a/y.ts": "",
    },
  ],
])("a circle of %s is found, though no files have one", (_, texts) => {
  const graph = importGraph(inSrc(texts));
  expect(circlesIn(graph)).toEqual([]);
  expect(circlesIn(folderGraph(graph))).toEqual([[...folderGraph(graph).keys()]]);
});

function inSrc(texts: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(texts).map(([path, text]) => [`src/${path}`, text]));
}

const REFUSED = [
  ["src/signature/probe.ts", "../inbox/store.js", "eslint(no-restricted-imports)"],
  ["src/index.ts", "./stores/memory.js", "eslint(no-restricted-imports)"],
  ["src/client/probe.ts", "node:crypto", "eslint(no-restricted-imports)"],
  ["src/receiver/probe.ts", "node:process", "node(no-process-env)"],
] as const;

test("lint refuses imports that the rules of a folder forbid", () => {
  const folder = tempFolder();
  copyFileSync(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [path, from] of REFUSED) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), `export * from "${from}";\nexport const home = process.env["HOME"];\n`);
  }
  const oxlint = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const { stdout } = spawnSync(process.execPath, [oxlint, "-f", "json", "src"], { cwd: folder, encoding: "utf8" });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
  const found = diagnostics.map(({ code, filename }) => `${filename} ${code}`);
  for (const [path, , rule] of REFUSED) expect(found).toContain(`${path} ${rule}`);
});
