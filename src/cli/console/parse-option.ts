import { InvalidArgumentError } from "#commander";
import { usageError } from "./exit.js";
import { echoed } from "./printable.js";

export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    const bound =
      most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected a whole number ${bound}.`);
  };
}

export function numberOf(least: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? NaN : Number(text);
    if (Number.isFinite(value) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a number of at least ${least}.`);
  };
}

/** A parser for an option that can be repeated. It refuses an empty value. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), notEmpty(value)];
}

export function httpUrl(text: string): URL {
  // The scheme is checked too, because `localhost:3000` parses as a URL whose scheme is
  // "localhost".
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new InvalidArgumentError(
    "Expected an address like http://localhost:3000/webhooks/signals.",
  );
}

/**
 * A parser that refuses an empty value: the user probably typed `--option "$NAME"`, and the
 * variable is not set. It also refuses the next option, which Commander takes for the value:
 * `--secret-file --json` would write a file `--json`.
 */
export function notEmpty(text: string): string {
  if (text.trim() === "")
    throw new InvalidArgumentError("It is empty: give it a value, or leave the option out.");
  if (text.startsWith("--"))
    throw new InvalidArgumentError("It is an option: give a value before it.");
  return text;
}

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
