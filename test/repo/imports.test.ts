import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { circlesIn, folderGraph, importGraph } from "./import-graph.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LISTED = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "src"], {
  cwd: ROOT,
  encoding: "utf8",
});
const SOURCES = new Map(
  LISTED.split("\n")
    .filter((path) => /\.tsx?$/.test(path) && existsSync(`${ROOT}${path}`))
    .map((path) => [path, readFileSync(`${ROOT}${path}`, "utf8")]),
);
const FILES = importGraph(SOURCES);

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
