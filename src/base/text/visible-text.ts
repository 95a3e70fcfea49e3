/**
 * Characters that a reader cannot see, or that change the order of other characters: controls,
 * formats (marks of direction, joiners, soft hyphens), lone surrogates, private use, separators of
 * lines, and those that a font may leave out.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Makes a text of a sender or of a callback safe to print and to look at: it can neither control a
 * terminal nor look like another text. Each character that cannot be seen is escaped as in
 * `\u001b`, which is also valid inside JSON.
 */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, escaped);
}

/** As {@link visible}, for a text of several lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text.replaceAll(UNSEEN, (unseen) =>
    unseen === "\n" || unseen === "\t" ? unseen : escaped(unseen),
  );
}

const COLOUR = /\p{Cc}\[[\d;]*[A-Za-z]/gu;

/**
 * The text with `by` in place of each character that cannot be seen, and of a terminal's codes for
 * colours.
 */
export function replaceUnseen(text: string, by: string): string {
  return text.replaceAll(COLOUR, by).replaceAll(UNSEEN, by);
}

const NAMES = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function escaped(unseen: string): string {
  const units = unseen.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return NAMES.get(unseen) ?? units.map((unit) => `\\u${unit}`).join("");
}
