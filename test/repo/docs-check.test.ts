import { expect, test } from "vitest";
import { CHECKS } from "../../src/cli/commands/check/checks.js";
import { codeIn, readDocument } from "./markdown.js";

const PAGE = readDocument("docs/check.md");

test("the page lists the checks that there are, with their kind and what they are about", () => {
  const [rows = []] = PAGE.tablesUnder("All checks");
  const listed = rows.map(([id, kind, title]) => ({ id: codeIn(id), kind, title }));
  expect(listed).toEqual(CHECKS.map(({ id, kind, title }) => ({ id, kind, title })));
});
