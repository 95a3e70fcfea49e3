import { expect, test } from "vitest";
import { wrap } from "../../../../src/cli/console/terminal.js";

const TEXTS: readonly (readonly [what: string, text: string, columns: number, wrapped: string])[] =
  [
    ["a short line stays", "one two", 7, "one two"],
    ["a long line is broken between words", "one two three", 8, "one two\nthree"],
    [
      "a word that is longer than the line stays whole",
      "go to http://localhost:3000/ now",
      10,
      "go to\nhttp://localhost:3000/\nnow",
    ],
    ["an indented line stays indented", "  one two three", 9, "  one two\n  three"],
    ["each line on its own", "one two\nthree four", 9, "one two\nthree\nfour"],
    [
      "the last column continues below its start",
      "month  seventeen signals of nine types were sent",
      40,
      "month  seventeen signals of nine types\n       were sent",
    ],
    [
      "too far right, or with a word that is too long, it continues below the line",
      "--accepted-command <command>  prints how many signals it took",
      50,
      "--accepted-command <command>  prints how many\n    signals it took",
    ],
    [
      "a command is broken with a backslash, and an option keeps its value",
      "  $ npx signalbox send test --url http://localhost --json",
      40,
      "  $ npx signalbox send test \\\n      --url http://localhost --json",
    ],
    ["no other text gets a backslash", "  npm ERR! code ENOENT", 16, "  npm ERR! code\n  ENOENT"],
    [
      "a line may hold other line ends",
      "one\rtwo\u2028three four",
      14,
      "one\rtwo\u2028three\nfour",
    ],
    ["colours take no space", "\u001b[31mone two\u001b[39m", 7, "\u001b[31mone two\u001b[39m"],
    ["a Chinese character takes two columns", "价格 上涨", 8, "价格\n上涨"],
  ];

test.each(TEXTS)("%s", (_what, text, columns, wrapped) => {
  expect(wrap(text, columns)).toBe(wrapped);
});
