// Matches control characters, characters that change the direction of text, and invisible characters (tags, variation
// selectors). Text from outside must not control a terminal or look like other text on it.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e0fff}]/gu;

/** Text from outside, safe to print. Each unprintable character is escaped as in `\u001b`, which is also valid inside JSON. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => character.split("").map(escapeUnit).join(""));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A typed or stored text for use inside a message, shortened so that the message stays readable. */
export function echoed(text: string): string {
  return shortened(text, 81);
}

/** The text on one line, cut to at most `length` characters. */
export function shortened(text: string, length: number): string {
  const safe = printable(text);
  return safe.length <= length ? safe : `${safe.slice(0, length - 1)}…`;
}

const SHOWN_NAMES = 5;

export function someNames(names: readonly string[]): string {
  const others = names.length - SHOWN_NAMES;
  return others <= 0 ? names.join(", ") : `${names.slice(0, SHOWN_NAMES).join(", ")} and ${others} more`;
}
