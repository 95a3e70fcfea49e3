import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// Files that are not added yet count too, so that a mistake is red before it is committed.
const FILES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(`${ROOT}${path}`));
const SOURCES = FILES.filter((path) => /^src\/.*\.tsx?$/.test(path));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const parse = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2023, true);

/** Whether any node of the source passes. Comments are not nodes. */
function holds(path: string, isIt: (node: ts.Node) => boolean): boolean {
  const visit = (node: ts.Node): boolean => isIt(node) || (ts.forEachChild(node, visit) ?? false);
  return visit(parse(path));
}

test("the top holds only the planned folders, and src its wings and their map", () => {
  const entriesOf = (folder: string): string[] =>
    FILES.filter((path) => path.startsWith(folder)).map(
      (path) => path.slice(folder.length).split("/")[0] ?? "",
    );
  const folders = new Set(
    entriesOf("").filter((name) => FILES.some((path) => path.startsWith(`${name}/`))),
  );
  const allowed = new Set(["docs", "fixtures", "src", "templates", "test"]);
  expect([...folders].filter((name) => !name.startsWith(".") && !allowed.has(name))).toEqual([]);
  expect(entriesOf("src/").filter((name) => name.includes("."))).toEqual(["README.md"]);
});

/** The modules that are loaded with this one, itself included. Types load nothing. */
function loadedBy(path: string, found = new Set<string>()): Set<string> {
  found.add(path);
  for (const statement of parse(path).statements) {
    const isImport =
      ts.isImportDeclaration(statement) && statement.importClause?.phaseModifier === undefined;
    const isReExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly;
    const specifier = isImport || isReExport ? statement.moduleSpecifier : undefined;
    if (specifier === undefined || !ts.isStringLiteral(specifier)) continue;
    const isRelative = specifier.text.startsWith(".");
    const target = isRelative
      ? posix.join(dirname(path), specifier.text.replace(/\.js$/, ".ts"))
      : specifier.text;
    if (!isRelative) found.add(target);
    else if (!found.has(target)) loadedBy(target, found);
  }
  return found;
}

test("the client loads nothing that only Node has", () => {
  const folders =
    /^src\/(service\/(client|contract)|base\/(addresses|options)|kit\/senders\/signals)\//;
  const beside = new Set([
    "zod",
    "ipaddr.js",
    "src/base/errors.ts",
    "src/base/time/units.ts",
    "src/base/text/parse-json.ts",
  ]);
  const loaded = [...loadedBy("src/service/client/index.ts")];
  expect(loaded).toContain("src/service/contract/operations.ts");
  expect(loaded.filter((path) => !folders.test(path) && !beside.has(path))).toEqual([]);
  const ofNode = (node: ts.Node): boolean =>
    ts.isIdentifier(node) &&
    /^(Buffer|process|require|__dirname)$/.test(node.text) &&
    !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node);
  expect(loaded.filter((path) => path.startsWith("src/") && holds(path, ofNode))).toEqual([]);
});

test("no file names a place on the machine that it was written on", () => {
  const places = [ROOT, `${dirname(ROOT)}/`, `${homedir()}/`].filter((place) => place.length > 2);
  const texts = FILES.filter((path) => !/\.(png|ico|gz)$/.test(path));
  expect(texts.filter((path) => places.some((place) => read(path).includes(place)))).toEqual([]);
});

test("the SQLite driver is loaded where it is known not to crash this Node, and nowhere else", () => {
  const isName = (node: ts.Node | undefined): boolean =>
    node !== undefined && ts.isStringLiteral(node) && node.text === "better-sqlite3";
  const loads = (node: ts.Node): boolean =>
    (ts.isImportDeclaration(node) &&
      isName(node.moduleSpecifier) &&
      node.importClause?.isTypeOnly !== true) ||
    (ts.isExportDeclaration(node) && isName(node.moduleSpecifier)) ||
    (ts.isCallExpression(node) && node.arguments.some(isName));
  const naming = SOURCES.filter((path) => read(path).includes("better-sqlite3"));
  expect(naming.filter((path) => holds(path, loads))).toEqual(["src/base/sqlite/sqlite-driver.ts"]);
});
