import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXAMINATIONS } from "../../src/cli/commands/doctor/examinations.js";
import { FINDINGS } from "../../src/cli/commands/doctor/finding-ids.js";
import { codeIn, readMarkdown } from "./markdown.js";

const README = readMarkdown(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));
const HEADING = "What is wrong: `doctor`";
const [groups = [], findings = []] = README.tablesUnder(HEADING);

test("the README lists the groups of what doctor looks at, in their order", () => {
  const existing = [...new Set(EXAMINATIONS.map(({ group }) => group))];
  expect(groups.map(([name]) => name)).toEqual(existing);
});

test("the README lists every finding of doctor, with the code's words", () => {
  expect(findings.map(([id, words]) => [codeIn(id), words])).toEqual(Object.entries(FINDINGS));
});

test("the README's example holds findings that there are, under their groups", () => {
  const example = README.blocks.find(({ heading, language }) => heading === HEADING && language === "text")?.code ?? "";
  const ids = [...example.matchAll(/\[(\w+)\]/g)].map((match) => match[1] ?? "");
  expect(ids.length).toBeGreaterThan(10);
  expect(ids.filter((id) => !(id in FINDINGS))).toEqual([]);
  expect(example.match(/^\S.*$/gm)).toEqual(groups.map(([name]) => name));
});

test("each finding is made somewhere", () => {
  const folder = new URL("../../src/cli/commands/doctor/", import.meta.url);
  const sources = readdirSync(folder).filter((name) => name !== "finding-ids.ts");
  const code = sources.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
  expect(Object.keys(FINDINGS).filter((id) => !code.includes(`"${id}"`))).toEqual([]);
});

test("each examination needs such as come before it", () => {
  const names = EXAMINATIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const late = EXAMINATIONS.filter(({ needs }, index) => needs.some((need) => !names.slice(0, index).includes(need)));
  expect(late).toEqual([]);
});
