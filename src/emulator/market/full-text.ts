// These scripts have no spaces between words, so each character is indexed as a word.
const UNSPACED = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]";
const PARTS = new RegExp(`${UNSPACED}+|(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}\\p{Co}])+`, "gu");
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, "u");
const EACH_UNSPACED = new RegExp(UNSPACED, "gu");
const IS_ASCII = /^[\x20-\x7e]*$/;

/** A search text has at most 120 characters, and so fewer words than this. FTS5 refuses expressions of more than 256 parts. */
const MOST_WORDS = 100;

/** Prepares a text for the full-text tables, which index words and single Chinese characters. */
export function ftsText(text: string): string {
  return IS_ASCII.test(text) ? text : text.replaceAll(EACH_UNSPACED, " $& ");
}

/**
 * Makes an FTS5 expression from a user's text. It matches texts that contain all of the words; the last word can be the start of
 * a word. Chinese characters must be adjacent. Operators, quotes and control characters are left out, so no text causes a syntax error.
 *
 * @returns null for a text without letters and digits, which matches nothing
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
 * Builds the condition of a search, and adds its value to `values`. A text of only white space needs no condition.
 *
 * @param idColumn the column that is equal to the full-text table's rowid
 */
export function searched(
  text: string | undefined,
  idColumn: string,
  table: "product_fts" | "keyword_fts",
  values: Record<string, string | number>,
): string[] {
  if (text === undefined || text.trim() === "") return [];
  const match = ftsQuery(text);
  if (match === null) return ["0"];
  values["match"] = match;
  return [`${idColumn} IN (SELECT rowid FROM ${table} WHERE ${table} MATCH @match)`];
}
