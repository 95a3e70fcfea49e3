import { visible as printable } from "../../base/text/visible-text.js";

export { printable };

/**
 * A typed or stored text for use inside a message, shortened so that the message stays readable.
 */
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
  return others <= 0
    ? names.join(", ")
    : `${names.slice(0, SHOWN_NAMES).join(", ")} and ${others} more`;
}
