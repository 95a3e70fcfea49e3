import type { z } from "zod";
import { shownName, type ParameterProblem } from "./parameter-problem.js";

/** What a schema says against `input`, for people; of each parameter what comes first, as the rest often follows from it. */
export function schemaProblems({ issues }: z.ZodError, input: unknown): ParameterProblem[] {
  const told = new Set<string>();
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ parameter: [...path, shownName(key)].join("."), problem: "is not known" }));
    }
    const parameter = path.join(".");
    if (told.has(parameter)) return [];
    told.add(parameter);
    const isMissing = issue.path.length > 0 && valueAt(input, path) === undefined;
    return [{ parameter, problem: isMissing ? "is required" : describe(issue) }];
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
      return sizeText("at least", issue.minimum, issue.origin);
    case "too_big":
      return sizeText("at most", issue.maximum, issue.origin);
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.join(", ")}`;
    case "invalid_format":
      if (issue.format !== "regex") return FORMATS.get(issue.format) ?? `must be a ${issue.format.toUpperCase()}`;
      return issue.message;
    default:
      // A rule of ours, with a text of ours; so is each pattern.
      return issue.message;
  }
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["url", "must be an address such as https://receiver.example/signals"],
  ["datetime", "must be a time such as 2026-11-01T09:00:00Z"],
  ["date", "must be a day such as 2026-11-01"],
]);

function sizeText(bound: string, size: number | bigint, origin: string): string {
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
