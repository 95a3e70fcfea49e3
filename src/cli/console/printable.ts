// Control characters, characters that turn the direction of text, and characters that cannot be seen (tags, variation
// selectors): text from outside must not steer a terminal, nor look like something else on it.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e0fff}]/gu;

/** Text from outside, safe to print. Such a character becomes `\u001b`, which is also right inside JSON. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => character.split("").map(codeOf).join(""));
}

/** @param unit of UTF-16: one half of a character above U+FFFF */
function codeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A text that was typed or stored, as a part of a message: cut, so that the message can still be read. */
export function echoed(text: string): string {
  return shortened(text, 81);
}

/** At most so many characters of it, on one line. */
export function shortened(text: string, length: number): string {
  const safe = printable(text);
  return safe.length <= length ? safe : `${safe.slice(0, length - 1)}…`;
}

const SHOWN_NAMES = 5;

/** For one line: the first names, and how many others there are. */
export function someNames(names: readonly string[]): string {
  const others = names.length - SHOWN_NAMES;
  return others <= 0 ? names.join(", ") : `${names.slice(0, SHOWN_NAMES).join(", ")} and ${others} more`;
}
