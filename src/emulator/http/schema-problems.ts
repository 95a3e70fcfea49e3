import type { z } from "zod";
import { shownName, type ParameterProblem } from "./parameter-problem.js";

/** What a schema says against `input`, for people. */
export function schemaProblems({ issues }: z.ZodError, input: unknown): ParameterProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ parameter: [...path, shownName(key)].join("."), problem: "is not known" }));
    }
    const isMissing = issue.path.length > 0 && valueAt(input, path) === undefined;
    return [{ parameter: path.join("."), problem: isMissing ? "is required" : describe(issue) }];
  });
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}

function describe(issue: z.core.$ZodIssue): string {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- those with a text that needs no help are the rest
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected)}`;
    case "too_small":
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.join(", ")}`;
    case "invalid_format":
      return issue.format === "regex" ? `must match ${issue.pattern}` : `must be a ${issue.format.toUpperCase()}`;
    default:
      // A rule of ours, with a text of ours.
      return issue.message;
  }
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
}

function withArticle(expected: string): string {
  if (expected === "int") return "a whole number";
  return `${/^[aeiou]/.test(expected) ? "an" : "a"} ${expected}`;
}
