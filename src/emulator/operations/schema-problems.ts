import type { z } from "zod";
import { issueWords } from "../../options/issue-words.js";
import { shownName, unknownProblem, type ParameterProblem } from "./parameter-problem.js";

/**
 * What a schema says against `input`, for people; of each parameter what comes first, as the rest often follows from it.
 *
 * @param known the names that there are
 */
export function schemaProblems(
  { issues }: z.ZodError,
  input: unknown,
  known: readonly string[] = [],
): ParameterProblem[] {
  const told = new Set<string>();
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      // What is known within one of them is not asked: its names are few.
      const names = path.length === 0 ? known : [];
      return issue.keys.map((key) => ({
        parameter: [...path, shownName(key)].join("."),
        problem: unknownProblem(key, names),
      }));
    }
    const parameter = path.join(".");
    if (told.has(parameter)) return [];
    told.add(parameter);
    const isMissing = issue.path.length > 0 && valueAt(input, path) === undefined;
    return [{ parameter, problem: isMissing ? "is required" : issueWords(issue) }];
  });
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}
