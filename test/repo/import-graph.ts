import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * What each file of src imports, files and packages: values, types, re-exports, `import()` and
 * import types.
 */
export type ImportGraph = Map<string, Set<string>>;

/** @param texts the texts by path, such as `src/kit/inbox/store.ts` */
export function importGraph(texts: ReadonlyMap<string, string>): ImportGraph {
  const graph: ImportGraph = new Map();
  for (const [path, text] of texts) {
    const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    const targets = names.map((name) =>
      name.startsWith(".") ? sourceOf(posix.join(posix.dirname(path), name), texts) : name,
    );
    graph.set(path, new Set(targets.filter((target) => target !== undefined)));
  }
  return graph;
}

/** `x.js` is made of `x.ts` or `x.tsx`. */
function sourceOf(target: string, texts: ReadonlyMap<string, string>): string | undefined {
  const base = target.replace(/\.jsx?$/, "");
  return [target, `${base}.ts`, `${base}.tsx`].find((path) => texts.has(path));
}

/**
 * The same graph of folders, without packages.
 * @param depth 1: the wings, such as `kit`; 2: their rooms, such as `kit/inbox`, and the files
 * beside them
 */
export function folderGraph(files: ImportGraph, depth: 1 | 2): ImportGraph {
  const folderOf = (path: string): string =>
    path
      .split("/")
      .slice(1, depth + 1)
      .join("/");
  const graph: ImportGraph = new Map();
  for (const [path, targets] of files) {
    const folder = folderOf(path);
    const own = graph.get(folder) ?? new Set();
    for (const target of targets)
      if (files.has(target) && folderOf(target) !== folder) own.add(folderOf(target));
    graph.set(folder, own);
  }
  return graph;
}

/** The knots of a graph: in each one every file reaches every other one. */
export function circlesIn(graph: ImportGraph): string[][] {
  const reached = new Map([...graph.keys()].map((path) => [path, reachableFrom(path, graph)]));
  const knots = [...graph.keys()].map((path) =>
    [...graph.keys()].filter(
      (other) => reached.get(path)!.has(other) && reached.get(other)!.has(path),
    ),
  );
  return [
    ...new Map(knots.filter((knot) => knot.length > 0).map((knot) => [knot.join(), knot])).values(),
  ];
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
  const listed = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "src"],
    {
      cwd: ROOT,
      encoding: "utf8",
    },
  );
  const paths = listed
    .split("\n")
    .filter((path) => /\.tsx?$/.test(path) && existsSync(`${ROOT}${path}`));
  return new Map(paths.map((path) => [path, readFileSync(`${ROOT}${path}`, "utf8")]));
}
