import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { install, manifestOf, pack, REPOSITORY } from "./installed.js";

const DOCUMENTS = [
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "SECURITY.md",
  "docs",
];
const PUBLISHED = [...DOCUMENTS, "dist", "fixtures", "package.json", "src", "templates"];

const LICENCES = "dist/THIRD-PARTY-LICENSES.txt";

test("the tarball holds what a user needs and nothing else", () => {
  const { paths } = pack();
  const atTop = new Set(paths.map((path) => path.split("/")[0]));
  expect(atTop).toEqual(new Set(PUBLISHED.filter((name) => existsSync(join(REPOSITORY, name)))));
  const ofPages = /^dist\/pages\/assets\/[\w-]+\.(js|css)$/;
  const built = paths.filter(
    (path) => path.startsWith("dist/") && !ofPages.test(path) && path !== LICENCES,
  );
  expect(built.filter((path) => !/\.(js|json|d\.ts)$/.test(path))).toEqual([]);
  expect(paths.filter((path) => ofPages.test(path))).toContain("dist/pages/assets/inbox.js");
  expect(paths).toContain("fixtures/deliveries.json");
  const licences = readFileSync(join(install(), "node_modules/signalbox", LICENCES), "utf8");
  // Each of the three that are bundled, one that they load, and one that the SDK has copied.
  for (const name of [
    "commander",
    "@clack/prompts",
    "@modelcontextprotocol/server",
    "sisteransi",
    "ajv",
  ]) {
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)\n\n`, "m"));
  }
});

test("no compiled file is left of a source that is gone", () => {
  // esbuild bundles the scripts of the pages from several sources, and what the tools load from
  // packages.
  const compiled = pack().paths.filter((path) =>
    /^dist\/(?!pages\/assets\/|bundled\/).*\.js$/.test(path),
  );
  const stale = compiled.filter(
    (path) => !existsSync(join(REPOSITORY, path.replace(/^dist(.*)js$/, "src$1ts"))),
  );
  expect(stale, "`npm run build` removes them").toEqual([]);
});

test("every exports path and the command are there, with types", () => {
  const own = join(install(), "node_modules/signalbox");
  const { exports, bin } = manifestOf(own);
  const targets = Object.values(exports).filter((path) => path.endsWith(".js"));
  expect(targets.length).toBeGreaterThan(5);
  for (const target of targets) {
    expect(existsSync(join(own, target)), target).toBe(true);
    const types = target.replace(/\.js$/, ".d.ts");
    expect(existsSync(join(own, types)), types).toBe(true);
  }
  expect(readFileSync(join(own, bin["signalbox"] ?? ""), "utf8")).toMatch(
    /^#!\/usr\/bin\/env node\n/,
  );
});

test("installing it runs nothing", () => {
  const { scripts = {} } = manifestOf(join(install(), "node_modules/signalbox"));
  // npm does not run `prepare` of a tarball, but npm 11 asks the user to approve it. So
  // `postprepare` builds for a git address.
  for (const name of ["preinstall", "install", "postinstall", "prepare"])
    expect(scripts).not.toHaveProperty(name);
  // npm compiles a package with this file even when it has no script.
  expect(pack().paths).not.toContain("binding.gyp");
});

test("the tarball stays small", () => {
  const { tarball } = pack();
  const kilobytes = statSync(tarball).size / 1000;
  expect(kilobytes).toBeLessThan(1000);
  expect(
    execFileSync("tar", ["-xzOf", tarball], { maxBuffer: 2 ** 26 }).byteLength / 1000,
  ).toBeLessThan(3500);
});

test.each([
  ["publint", ["run", "--strict"]],
  ["attw", ["--profile", "esm-only"]],
])("%s finds nothing wrong with the tarball", async (command, options) => {
  const program = join(REPOSITORY, "node_modules/.bin", command);
  await promisify(execFile)(program, [...options, pack().tarball]).catch(
    (failure: { stdout: string; stderr: string }) => {
      throw new Error(`${failure.stdout}\n${failure.stderr}`);
    },
  );
});
