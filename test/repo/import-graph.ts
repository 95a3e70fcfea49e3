import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** What each file of src imports there: values, types, re-exports, `import()` and import types. */
export type ImportGraph = Map<string, Set<string>>;

/** @param texts the texts by path, such as `src/inbox/store.ts` */
export function importGraph(texts: ReadonlyMap<string, string>): ImportGraph {
  const graph: ImportGraph = new Map();
  for (const [path, text] of texts) {
    const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    const local = names.filter((name) => name.startsWith(".")).map((name) => posix.join(posix.dirname(path), name));
    graph.set(path, new Set(local.map((target) => sourceOf(target, texts)).filter((source) => source !== undefined)));
  }
  return graph;
}

/** `x.js` is made of `x.ts` or `x.tsx`. */
function sourceOf(target: string, texts: ReadonlyMap<string, string>): string | undefined {
  const base = target.replace(/\.jsx?$/, "");
  return [target, `${base}.ts`, `${base}.tsx`].find((path) => texts.has(path));
}

/** The same graph of what lies directly in src: its folders, and its loose files. */
export function folderGraph(files: ImportGraph): ImportGraph {
  const graph: ImportGraph = new Map();
  for (const [path, targets] of files) {
    const folder = folderOf(path);
    const own = graph.get(folder) ?? new Set();
    for (const target of targets) if (folderOf(target) !== folder) own.add(folderOf(target));
    graph.set(folder, own);
  }
  return graph;
}

function folderOf(path: string): string {
  return path.split("/")[1] as string;
}

/** The knots of a graph: in each one every file reaches every other one. */
export function circlesIn(graph: ImportGraph): string[][] {
  const reached = new Map([...graph.keys()].map((path) => [path, reachableFrom(path, graph)]));
  const knots = [...graph.keys()].map((path) =>
    [...graph.keys()].filter((other) => reached.get(path)!.has(other) && reached.get(other)!.has(path)),
  );
  return [...new Map(knots.filter((knot) => knot.length > 0).map((knot) => [knot.join(), knot])).values()];
}

function reachableFrom(path: string, graph: ImportGraph, found = new Set<string>()): Set<string> {
  for (const target of graph.get(path) ?? []) {
    if (found.has(target)) continue;
    found.add(target);
    reachableFrom(target, graph, found);
  }
  return found;
}

/** The sources of src, by path. Files that are not added to git yet count too. */
export function readSources(): Map<string, string> {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "src"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const paths = listed.split("\n").filter((path) => /\.tsx?$/.test(path) && existsSync(`${ROOT}${path}`));
  return new Map(paths.map((path) => [path, readFileSync(`${ROOT}${path}`, "utf8")]));
}

/** For each folder of src and each loose file, what it imports of the others: a list in Markdown. */
export function importsOfFolders(): string {
  const folders = folderGraph(importGraph(readSources()));
  const shown = (name: string): string => name.replace(/\.ts$/, "");
  const items = [...folders]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, targets]) => {
      const own = name.includes(".") ? name : `${name}/`;
      return `- \`${own}\`: ${[...targets].map(shown).toSorted().join(", ") || "nothing"}`;
    });
  return items.join("\n");
}
