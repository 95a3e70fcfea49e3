import { expect, test } from "vitest";
import { formatTable } from "../../../../src/cli/console/terminal.js";

test("columns are aligned by the width of their characters: a Chinese one takes two columns", () => {
  const rows = ["价格", "price"].map((text) => [text, "|"]);
  expect(formatTable(rows)).toEqual(["价格   |", "price  |"]);
});
