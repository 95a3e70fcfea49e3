// Scripts without blanks between words.
const UNSPACED = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]";
const PARTS = new RegExp(`${UNSPACED}+|(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}\\p{Co}])+`, "gu");
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, "u");
const EACH_UNSPACED = new RegExp(UNSPACED, "gu");
const IS_ASCII = /^[\x20-\x7e]*$/;

/** More words than any text within the operations' limits has; FTS5 refuses expressions of more than 256 parts. */
const MOST_WORDS = 100;

/** A text as the full-text tables index it: words, and Chinese characters one by one. */
export function ftsText(text: string): string {
  return IS_ASCII.test(text) ? text : text.replaceAll(EACH_UNSPACED, " $& ");
}

/**
 * Makes an FTS5 expression from a user's text. All of its words must occur, the last one as the start of a word; Chinese
 * characters must follow each other. Operators, quotes and control characters are not words, so no text is a syntax error.
 *
 * @returns null for a text without any letter or digit: nothing matches it
 */
export function ftsQuery(text: string): string | null {
  const words = parts(text).slice(0, MOST_WORDS);
  if (words.length === 0) return null;
  return words.map((word, index) => `"${word}"${index === words.length - 1 ? "*" : ""}`).join(" AND ");
}

function parts(text: string): string[] {
  return (text.match(PARTS) ?? []).map((part) => (STARTS_UNSPACED.test(part) ? Array.from(part).join(" ") : part));
}

/**
 * The condition for a text that was searched for, with its value; none for a blank text.
 *
 * @param idColumn what the full-text table's rowid is
 */
export function searched(
  text: string | undefined,
  idColumn: string,
  table: "product_fts" | "keyword_fts",
  values: Record<string, string | number>,
): string[] {
  if (text === undefined || text.trim() === "") return [];
  const match = ftsQuery(text);
  // Text without a letter or a digit in it is in no name.
  if (match === null) return ["0"];
  values["match"] = match;
  return [`${idColumn} IN (SELECT rowid FROM ${table} WHERE ${table} MATCH @match)`];
}
