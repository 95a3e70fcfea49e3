import type { z } from "zod";
import { SignalboxError } from "../errors.js";
import { describeIssue } from "./describe-issue.js";
import { nearMiss } from "./near-miss.js";

/** The function that options belong to, as an error names it. */
export interface OptionsOwner {
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
    help = `${of.page} lists every option.`,
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
  const meant = nearMiss(name, known);
  return meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
}
