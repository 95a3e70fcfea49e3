import { echoed } from "./printable.js";
import { usageError } from "./exit.js";

/** @param example a pattern that matches a name; an error suggests it */
export function selectByName<Item>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  patterns: { only?: readonly string[]; skip?: readonly string[] },
  example: string,
): readonly Item[] {
  const { only = ["*"], skip = [] } = patterns;
  for (const [option, each] of Object.entries({ only, skip })) {
    const useless = each.find((pattern) => !all.some((item) => matchesName(nameOf(item), pattern)));
    if (useless !== undefined)
      throw usageError(
        `--${option} ${echoed(useless)}: nothing matches; try --${option} ${example}`,
      );
  }
  const matchesAny = (item: Item, each: readonly string[]): boolean =>
    each.some((pattern) => matchesName(nameOf(item), pattern));
  const chosen = all.filter((item) => matchesAny(item, only) && !matchesAny(item, skip));
  if (chosen.length === 0) throw usageError("--skip excludes everything");
  return chosen;
}

/**
 * A pattern with a `*` must match the whole name. A pattern without `*` must be a part of the name.
 */
function matchesName(name: string, pattern: string): boolean {
  if (!pattern.includes("*")) return name.includes(pattern);
  const source = pattern
    .split("*")
    .map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`, "s").test(name);
}
