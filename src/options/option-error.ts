import type { z } from "zod";
import { SignalboxError } from "../errors.js";
import { issueWords } from "./issue-words.js";
import { nearMiss } from "./near-miss.js";

/** Whose options they are, and the names that each group of them has, by its path; "" is the whole. */
export interface KnownOptions {
  /** The factory that takes them. */
  of: string;
  groups: Readonly<Record<string, readonly string[]>>;
}

/** The refusal of one option. The command line says it of the flag that stands for the option. */
export class OptionError extends SignalboxError {
  /** Its path, such as `limits.maxBytes`; empty for the whole. */
  readonly option: string;
  /** Such as `expected a number`. */
  readonly problem: string;

  constructor(of: string, option: string, problem: string, help: string) {
    const subject = option === "" ? `The options of ${of} are` : `The option "${option}" of ${of} is`;
    super("option_invalid", `${subject} invalid: ${problem}.`, help);
    this.option = option;
    this.problem = problem;
  }
}

/** What is wrong with the options, by name; never with a value. */
export function optionError(known: KnownOptions, error: z.ZodError): SignalboxError {
  return errorOf(known, worstOf(error.issues));
}

/** An option whose value does not fit. */
export function invalidOption(
  of: string,
  path: string,
  problem: string,
  help = "The README lists every option.",
): OptionError {
  return new OptionError(of, path, problem, help);
}

/** A misspelt required option is also a missing one; its name tells more. */
function worstOf(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  return issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
}

function errorOf(known: KnownOptions, issue: z.core.$ZodIssue | undefined): SignalboxError {
  const path = issue?.path.join(".") ?? "";
  // A union reports the issues of its branches; the second is the one for objects.
  if (issue?.code === "invalid_union") {
    const inner = issue.errors.flat().find((each) => each.code === "unrecognized_keys");
    if (inner !== undefined) return errorOf(known, { ...inner, path: [...issue.path, ...inner.path] });
  }
  if (issue === undefined) return invalidOption(known.of, path, "expected an object");
  if (issue.code !== "unrecognized_keys") {
    return invalidOption(known.of, path, issueWords(issue).replace(/^must be /, "expected "));
  }
  const name = issue.keys[0] ?? "";
  // All items of a list are of one group.
  const names = known.groups[path.replaceAll(/\.\d+/g, "")] ?? [];
  const meant = nearMiss(name, names);
  const full = path === "" ? name : `${path}.${name}`;
  const help = meant === undefined ? `Known are ${names.join(", ")}.` : `Did you mean "${meant}"?`;
  return new SignalboxError("option_unknown", `${known.of} has no option "${full}".`, help);
}
