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

/** What is wrong with the options, by name; never with a value. */
export function optionError(known: KnownOptions, error: z.ZodError): SignalboxError {
  return errorOf(known, worstOf(error.issues));
}

/** An option whose value does not fit. */
export function invalidOption(
  of: string,
  path: string,
  message: string,
  help = "The README lists every option.",
): SignalboxError {
  const subject = path === "" ? `The options of ${of} are` : `The option "${path}" of ${of} is`;
  return new SignalboxError("option_invalid", `${subject} invalid: ${message}.`, help);
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
