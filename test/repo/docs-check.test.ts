import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CHECKS } from "../../src/cli/commands/check/checks.js";
import { codeIn, readMarkdown } from "./markdown.js";

const README = readMarkdown(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));

test("the README lists the checks that there are, with their kind and what they are about", () => {
  const [rows = []] = README.tablesUnder("A receiver in another language");
  const listed = rows.map(([id, kind, title]) => ({ id: codeIn(id), kind, title }));
  expect(listed).toEqual(CHECKS.map(({ id, kind, title }) => ({ id, kind, title })));
});
