import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EXAMINATIONS } from "../../src/cli/commands/doctor/examinations.js";
import { readDocument } from "./markdown.js";

const PAGE = readDocument("docs/doctor.md");
const HEADING = "What is wrong: `doctor`";
const [groups = []] = PAGE.tablesUnder(HEADING);
const [findings = []] = PAGE.tablesUnder("All findings");

test("the page lists the groups of what doctor looks at, in their order", () => {
  const existing = [...new Set(EXAMINATIONS.map(({ group }) => group))];
  expect(groups.map(([name]) => name)).toEqual(existing);
});

const ids = findings.flatMap(([names = ""]) => [...names.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ""));

test("the page lists every finding of doctor, and no other", () => {
  const code = ["commands/doctor", "diagnosis"]
    .map((name) => new URL(`../../src/cli/${name}/`, import.meta.url))
    .flatMap((folder) => readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8")))
    .join("\n");
  const made = code.matchAll(/(?:\b(?:ok|warning|problem|blocker|refusedWith)\)?\(|\bid(?::| =))\s*"(\w+)"/g);
  expect(new Set([...made].map((match) => match[1]))).toEqual(new Set(ids));
});

test("the page's example holds findings that there are, under their groups", () => {
  const example = PAGE.blocks.find(({ heading, language }) => heading === HEADING && language === "text")?.code ?? "";
  const shown = [...example.matchAll(/\[(\w+)\]/g)].map((match) => match[1] ?? "");
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter((id) => !ids.includes(id))).toEqual([]);
  // The example is that of an inbox in a file.
  const expected = groups.map(([name]) => name).filter((name) => name !== "Inbox database");
  expect(example.match(/^[A-Z].*$/gm)).toEqual(expected);
});

test("each examination needs such as come before it", () => {
  const names = EXAMINATIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const late = EXAMINATIONS.filter(({ needs }, index) => needs.some((need) => !names.slice(0, index).includes(need)));
  expect(late).toEqual([]);
});
