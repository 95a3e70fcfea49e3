const SHOWN_NAMES = 5;

/** For one line: the first names, and how many others there are. */
export function someNames(names: readonly string[]): string {
  const others = names.length - SHOWN_NAMES;
  return others <= 0 ? names.join(", ") : `${names.slice(0, SHOWN_NAMES).join(", ")} and ${others} more`;
}
