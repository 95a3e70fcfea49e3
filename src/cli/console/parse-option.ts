import { InvalidArgumentError } from "#commander";

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
