// Control characters, and those that turn the direction of text round: what comes from outside must not steer a
// terminal, nor look like something else on it.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Text from outside, safe to show: as `\u001b`, which is also right inside JSON. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What was typed or stored, inside of a line of ours: a long text must not bury what the line says. */
export function echoed(text: string): string {
  return shortened(text, 81);
}

/** At most so many characters of it, on one line. */
export function shortened(text: string, length: number): string {
  const safe = printable(text);
  return safe.length <= length ? safe : `${safe.slice(0, length - 1)}…`;
}
