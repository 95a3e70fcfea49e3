import { expect, test } from "vitest";
import { echoed, printable } from "../../../../src/cli/console/printable.js";

test.each([
  ["a plain text: Köln, 広告, 👩‍💻", "a plain text: Köln, 広告, 👩‍💻"],
  ["a control character\u001b[2J", "a control character\\u001b[2J"],
  ["a turned direction\u202e", "a turned direction\\u202e"],
  ["half a character\ud83d", "half a character\\ud83d"],
  ["hidden tags\u{e0041}\u{e007f}", "hidden tags\\udb40\\udc41\\udb40\\udc7f"],
  ["hidden bytes\u{e0100}", "hidden bytes\\udb40\\udd00"],
])("a character that steers a terminal, or cannot be seen, is printed as its code: %j", (text, printed) => {
  expect(printable(text)).toBe(printed);
  expect(JSON.parse(`"${printed}"`)).toBe(text);
});

test("a long text is cut", () => {
  expect(echoed("x".repeat(100))).toBe(`${"x".repeat(80)}…`);
});
