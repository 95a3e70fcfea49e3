/** Controls, formats (bidi marks, joiners, soft hyphens), lone surrogates, separators, and letters that have no shape. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/gu;
const NAMES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Makes a text safe to look at: what a reader could not see, or what changes the order of other letters, becomes an escape.
 * Every text of a sender or a callback goes through here.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, (unseen) => NAMES[unseen] ?? escapeOf(unseen));
}

/** As {@link visible}, for a text of several lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (unseen) => (unseen === "\n" || unseen === "\t" ? unseen : visible(unseen)));
}

function escapeOf(unseen: string): string {
  const hex = (unseen.codePointAt(0) ?? 0).toString(16).toUpperCase();
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}
