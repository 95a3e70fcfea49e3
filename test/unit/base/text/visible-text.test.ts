import { expect, test } from "vitest";
import { visible, visibleLines } from "../../../../src/base/text/visible-text.js";
import { echoed } from "../../../../src/cli/console/terminal.js";

test.each([
  ["a plain text: Köln, 広告, 👩", "a plain text: Köln, 広告, 👩"],
  ["a control character\u001b[2J", "a control character\\u001b[2J"],
  ["a turned direction\u202e", "a turned direction\\u202e"],
  ["half a character\ud83d", "half a character\\ud83d"],
  ["hidden tags\u{e0041}\u{e007f}", "hidden tags\\udb40\\udc41\\udb40\\udc7f"],
  ["hidden bytes\u{e0100}\ufe0f", "hidden bytes\\udb40\\udd00\\ufe0f"],
  // As `inbox ls` had them: an id with one of these looked like the id without it.
  ["sig_1\u200b\u00ad\u2060\u3164\u180e\u200d", "sig_1\\u200b\\u00ad\\u2060\\u3164\\u180e\\u200d"],
  ["a line end\n\t", "a line end\\n\\t"],
])(
  "a character that steers a terminal, or cannot be seen, is shown as its code: %j",
  (text, shown) => {
    expect(visible(text)).toBe(shown);
    expect(JSON.parse(`"${shown}"`)).toBe(text);
  },
);

test("in a text of several lines the line ends and tabs stay", () => {
  expect(visibleLines("Error:\r\n\tat x\u202e")).toBe("Error:\\r\n\tat x\\u202e");
});

test("a long text is cut", () => {
  expect(echoed("x".repeat(100))).toBe(`${"x".repeat(80)}…`);
});
