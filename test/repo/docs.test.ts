import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EVENT_STATES } from "../../src/kit/inbox/stored-events.js";
import { parseEvent } from "../../src/kit/index.js";
import { signalEvent } from "../../src/kit/testing/index.js";
import { parseSearch } from "../../src/page/inbox/parse-search.js";
import { callCli } from "../cli/call-cli.js";
import { checkBlocks } from "./check-blocks.js";
import { unionOf } from "./facts.js";
import { anchorOf, codesIn, DOCUMENTS, readDocument } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const MANIFEST = JSON.parse(read("package.json")) as {
  version: string;
  files: string[];
  exports: Record<string, string>;
};

const BLOCKS = DOCUMENTS.flatMap((path) => readDocument(path).blocks);
const sorted = (names: Iterable<string>): string[] => [...names].sort();

test("the page of errors has a heading for each error code and for no other", () => {
  const headings = readDocument("docs/errors.md").headings.filter(
    ({ level, text }) => level === 2 && text[0] === "`",
  );
  expect(sorted(headings.flatMap(({ text }) => codesIn(text)))).toEqual(
    sorted(unionOf("src/base/errors.ts", "SignalboxErrorCode")),
  );
});

test("the page of tests names the entry points of the package", () => {
  const entries = Object.entries(MANIFEST.exports).filter(([, target]) => target.endsWith(".js"));
  const [, listed = ""] = /^Entry points: ([^.]*)\.$/m.exec(read("docs/testing.md")) ?? [];
  expect(sorted(codesIn(listed))).toEqual(
    sorted(entries.map(([entry]) => `signalbox${entry.slice(1)}`)),
  );
});

test(
  "each block of JavaScript and TypeScript in the documents is sound",
  { timeout: 60_000 },
  () => {
    expect(
      BLOCKS.filter(({ language }) => language === "js" || language === "ts").length,
    ).toBeGreaterThan(12);
    expect(checkBlocks(BLOCKS)).toEqual([]);
  },
);

test("the README's app is that of the quick start", () => {
  const apps = readDocument("README.md").blocks.filter(({ language }) => language === "js");
  expect(apps.map(({ code }) => code)).toEqual([
    readDocument("docs/start.md").block("import express").code,
  ]);
});

test("each flag that a document types is a flag of that command", async () => {
  const lines = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ code }) =>
    code.split("\n"),
  );
  const typed = lines.flatMap((line) => {
    const [, words = ""] = /npx signalbox (.*)/.exec(line) ?? [];
    const [command = ""] = /^(?:(?:inbox|emulator) )?[a-z]+/.exec(words) ?? [];
    return [...words.matchAll(/(?<= )--[a-z-]+/g)].map(([flag]) => ({ command, flag }));
  });
  expect(typed.length).toBeGreaterThan(3);
  for (const { command, flag } of typed) {
    const { stdout } = await callCli([...command.split(" "), "--help"]);
    expect(stdout, command).toContain(`${flag} `);
  }
});

test("the page lists each property that an event must have, and no other", () => {
  const section = readDocument("docs/receiver.md").section("What an event must have");
  const paths = [...section.matchAll(/^\| `([\w.]+)`/gm)].map(([, path = ""]) => path);
  const parsed = (event: object) => parseEvent(Buffer.from(JSON.stringify(event)));
  const bare = {};
  for (const path of paths) {
    const lacking = structuredClone(signalEvent()) as object;
    const value = setAt(lacking, path, undefined);
    expect(parsed(lacking), path).toMatchObject({ kind: "unusable", path });
    if (typeof value !== "object") setAt(bare, path, value);
  }
  // With these and nothing else an event is sound.
  expect(parsed(bare)).toMatchObject({ kind: "known" });
});

/** Sets what is at `a.b`. @returns what was there before */
function setAt(root: object, path: string, value: unknown): unknown {
  const names = path.split(".");
  const last = names.pop() ?? "";
  const at = names.reduce(
    (node, name) => (node[name] ??= {}) as Record<string, unknown>,
    root as Record<string, unknown>,
  );
  const before = at[last];
  at[last] = value;
  return before;
}

test("the terms of a search that the page of the inbox page lists are known", () => {
  const section = readDocument("docs/inbox-page.md").section("Search");
  const typed = [...section.matchAll(/`([a-z]+:[^`]+|sig_\d+)`/g)].map(([, term = ""]) => term);
  expect(typed.length).toBeGreaterThan(5);
  for (const term of typed) expect(Object.keys(parseSearch(term, 0)), term).toHaveLength(1);
  expect(codesIn(section)).toEqual(expect.arrayContaining([...EVENT_STATES]));
});

test("the index of the pages lists each page once", () => {
  const index = readDocument("docs/README.md").links.map((link) => `docs/${link}`);
  expect(sorted(index)).toEqual(DOCUMENTS.filter((path) => /^docs\/[a-z]/.test(path)));
});

test("the README and the pages are short", () => {
  const most = (path: string): number => (path === "README.md" ? 150 : 250);
  // It grows with time.
  const pages = DOCUMENTS.filter((path) => path !== "CHANGELOG.md");
  expect(pages.filter((path) => readDocument(path).lines.length - 1 > most(path))).toEqual([]);
});

test("each link leads to a file and a heading that exist, in the package too", () => {
  const isPacked = (target: string): boolean =>
    /^(README\.md|LICENSE)$/.test(target) ||
    MANIFEST.files.some((path) => `${target}/`.startsWith(`${path}/`));
  const brokenIn = (path: string): string[] =>
    readDocument(path).links.filter((link) => {
      if (link.startsWith("https:")) return false;
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      if (!existsSync(`${ROOT}${target}`) || (isPacked(path) && !isPacked(target))) return true;
      return (
        anchor !== undefined &&
        !readDocument(target).headings.some(({ text }) => anchorOf(text) === anchor)
      );
    });
  const broken = [...DOCUMENTS, "src/README.md", "fixtures/README.md"].flatMap((path) =>
    brokenIn(path).map((link) => `${path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test("each page that a source names exists, and each file that the map of the code names", () => {
  const sources = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  const named = (text: string, form: RegExp): string[] =>
    [...text.matchAll(form)].map(([, path = ""]) => path);
  const pages = sources.flatMap((path) => named(read(`src/${path}`), /(docs\/[a-z-]+\.md)/g));
  const files = named(read("src/README.md"), /`([\w-]+\/[\w/-]+\.tsx?)`/g).map(
    (path) => `src/${path}`,
  );
  expect(Math.min(pages.length, files.length)).toBeGreaterThan(5);
  expect([...pages, ...files].filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});

test("the changelog's newest release is this version", () => {
  const sections = readDocument("CHANGELOG.md").headings.filter(({ level }) => level === 2);
  const newest = sections.map(({ text }) => text).find((text) => text !== "[Unreleased]");
  expect(newest).toMatch(
    new RegExp(`^\\[${MANIFEST.version.replaceAll(".", "\\.")}\\] - \\d{4}-\\d{2}-\\d{2}$`),
  );
});
