import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXAMINATIONS } from "../../src/cli/commands/doctor/examinations.js";
import { FINDINGS } from "../../src/cli/commands/doctor/findings.js";
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
  const files = ["commands/doctor", "diagnosis"].flatMap((name) => {
    const folder = new URL(`../../src/cli/${name}/`, import.meta.url);
    return readdirSync(folder).map((file) => new URL(file, folder));
  });
  const sources = files.filter(({ pathname }) => !pathname.endsWith("/findings.ts"));
  const code = sources.map((file) => readFileSync(file, "utf8")).join("\n");
  expect(Object.keys(FINDINGS).filter((id) => !code.includes(`"${id}"`))).toEqual([]);
});

test("each examination needs such as come before it", () => {
  const names = EXAMINATIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const late = EXAMINATIONS.filter(({ needs }, index) => needs.some((need) => !names.slice(0, index).includes(need)));
  expect(late).toEqual([]);
});
