import type { z } from "zod";
import { SignalboxError } from "../errors.js";

/** The function that options belong to, as an error names it. */
interface OptionsOwner {
  /** Such as `createReceiver`. */
  name: string;
  /** The page that lists its options. */
  page: string;
}

/**
 * Checks options, and fills in the defaults of their schema.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`; it names the wrong option, without its
 * value
 */
export function checkOptions<Schema extends z.ZodType>(
  of: OptionsOwner,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(options, { error: helpInIssue });
  if (error === undefined) return data;
  // A misspelt required option is also missing. The error about its name is more helpful, so it is
  // thrown.
  const unknown = error.issues.map(unknownKeysIn).find((issue) => issue !== null);
  if (unknown !== undefined) {
    const path = [...unknown.path, unknown.keys[0]].join(".");
    throw new SignalboxError(
      "option_unknown",
      `${of.name} has no option "${path}".`,
      unknown.message,
    );
  }
  const issue = error.issues[0] as z.core.$ZodIssue;
  throw new OptionError(
    of,
    issue.path.join("."),
    describeIssue(issue).replace(/^must be /, "expected "),
  );
}

/**
 * The refusal of one option. The command line uses its parts for an error about the matching flag.
 */
export class OptionError extends SignalboxError {
  /** The option's path, such as `limits.maxBytes`; empty for the whole object. */
  readonly option: string;
  /** Such as `expected a number`. */
  readonly problem: string;

  constructor(
    of: OptionsOwner,
    option: string,
    problem: string,
    help = `${of.page} of the package lists every option.`,
  ) {
    const subject =
      option === "" ? `The options of ${of.name} are` : `The option "${option}" of ${of.name} is`;
    super("option_invalid", `${subject} invalid: ${problem}.`, help);
    this.option = option;
    this.problem = problem;
  }
}

/** Refuses options beside the path or the address of a store, because they would have no effect. */
export function assertOneArgument(of: OptionsOwner, count: number, example: string): void {
  if (count > 1) throw new OptionError(of, "", `expected one argument, such as ${example}`);
}

/** Looks inside the issue of a union too, which contains the issues of its branches. */
function unknownKeysIn(issue: z.core.$ZodIssue): z.core.$ZodIssueUnrecognizedKeys | null {
  if (issue.code === "unrecognized_keys") return issue;
  if (issue.code !== "invalid_union") return null;
  const inner = issue.errors.flat().find((each) => each.code === "unrecognized_keys");
  return inner === undefined ? null : { ...inner, path: [...issue.path, ...inner.path] };
}

/**
 * The message of an issue about unknown keys: only here the issue still has the schema, which lists
 * the known ones.
 */
function helpInIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  return helpWithName(String(issue.keys[0]), Object.keys((issue.inst as z.ZodObject).shape));
}

/** What to say about a name that does not exist. */
export function helpWithName(name: string, known: readonly string[]): string {
  if (known.length === 0) return "It takes none.";
  const meant = nearMiss(name, known);
  return meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
}

/**
 * The beginnings of zod's default texts. Other texts were written with the schema, and are more
 * specific.
 */
const DEFAULT_TEXT = /^(Invalid|Too (small|big):|Unrecognized)/;

/** Says what a value must be, without repeating the value. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  if (!DEFAULT_TEXT.test(issue.message)) return issue.message;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- `default` covers the rest
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected)}`;
    case "too_small":
      return sizeWords("at least", issue.minimum, issue.origin);
    case "too_big":
      return sizeWords("at most", issue.maximum, issue.origin);
    case "invalid_value":
      return `must be ${oneOf(issue.values)}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `must match ${issue.pattern}`
        : `must be ${FORMATS.get(issue.format) ?? `a ${issue.format.toUpperCase()}`}`;
    case "invalid_union":
      return unionWords(issue);
    default:
      return "is not valid";
  }
}

/** Formats that need an example. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ["url", "an address such as https://receiver.example/signals"],
  ["datetime", "a time with Z or an offset, such as 2026-11-01T09:00:00Z"],
  ["date", "a day of the calendar, such as 2026-11-01"],
]);

/**
 * Lists the values of the key by which a union's branches differ; if there is none, describes the
 * last, most specific branch.
 */
function unionWords(issue: z.core.$ZodIssueInvalidUnion): string {
  if ("options" in issue && Array.isArray(issue.options)) return `must be ${oneOf(issue.options)}`;
  const last = issue.errors.at(-1)?.[0];
  return last === undefined ? "is not valid" : describeIssue(last);
}

const oneOf = (values: readonly unknown[]): string =>
  `${values.length === 1 ? "" : "one of "}${values.join(", ")}`;

function sizeWords(bound: string, size: number | bigint, origin: string): string {
  if (origin === "string") return `must have ${bound} ${size} character${size === 1 ? "" : "s"}`;
  if (origin === "array") return `must have ${bound} ${size} item${size === 1 ? "" : "s"}`;
  return `must be ${bound} ${size}`;
}

function withArticle(expected: string): string {
  if (expected === "int") return "a whole number";
  if (expected === "string") return "a text";
  if (expected === "boolean") return "true or false";
  if (expected === "array") return "a list";
  return `${/^[aeiou]/.test(expected) ? "an" : "a"} ${expected}`;
}

/** Finds the known name that was probably meant by a misspelt name. */
export function nearMiss(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceBetween(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, Math.floor(wanted.length / 3))
    ? best.candidate
    : undefined;
}

/**
 * The edits between two names. The beginning of a name, such as `tolerance` or `bodyLimit`, is one
 * edit away from it.
 */
function distanceBetween(a: string, b: string): number {
  if (a.length >= 4 && b.startsWith(a)) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
