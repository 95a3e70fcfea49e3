import { echoed } from "../console/printable.js";
import { usageError } from "./exit.js";

/**
 * What `--only` and `--skip` choose of all items.
 *
 * @param example a pattern that matches
 * @throws CliError for a pattern that matches no name, and when nothing is left
 */
export function selectByName<Item>(
  all: readonly Item[],
  nameOf: (item: Item) => string,
  patterns: { only?: readonly string[]; skip?: readonly string[] },
  example: string,
): readonly Item[] {
  const { only = ["*"], skip = [] } = patterns;
  for (const [option, each] of Object.entries({ only, skip })) {
    const idle = each.find((pattern) => !all.some((item) => matchesName(nameOf(item), pattern)));
    if (idle !== undefined)
      throw usageError(`--${option} ${echoed(idle)}: nothing matches; try --${option} ${example}`);
  }
  const isMeant = (item: Item, each: readonly string[]): boolean =>
    each.some((pattern) => matchesName(nameOf(item), pattern));
  const chosen = all.filter((item) => isMeant(item, only) && !isMeant(item, skip));
  if (chosen.length === 0) throw usageError("--skip leaves nothing");
  return chosen;
}

/** A pattern with a `*` fits the whole name; one without is looked for in it. */
function matchesName(name: string, pattern: string): boolean {
  if (!pattern.includes("*")) return name.includes(pattern);
  const source = pattern
    .split("*")
    .map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`, "s").test(name);
}
