import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatTable, wrap } from "../../../../src/cli/console/terminal.js";

const HERE = import.meta.dirname;

test("lines are broken where a reader expects it", async () => {
  const texts = JSON.parse(readFileSync(join(HERE, "wrap.json"), "utf8")) as {
    title: string;
    columns: number;
    text: string;
  }[];
  const wrapped = texts.map(({ title, columns, text }) => {
    // In JSON, since some line ends and colours cannot be seen.
    const lines = wrap(text, columns)
      .split("\n")
      .map((line) => JSON.stringify(line));
    return [`# ${title}, in ${columns} columns`, ...lines, ""].join("\n");
  });
  await expect(wrapped.join("\n")).toMatchFileSnapshot(join(HERE, "wrapped.txt"));
});

test("columns are aligned by the width of their characters: a Chinese one takes two columns", () => {
  const rows = ["价格", "price"].map((text) => [text, "|"]);
  expect(formatTable(rows)).toEqual(["价格   |", "price  |"]);
});
