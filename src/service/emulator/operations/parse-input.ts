import { z } from "zod";
import { describeIssue, nearMiss } from "../../../base/options/option-error.js";
import { ServiceError } from "./service-error.js";

/** What is wrong with a parameter. Neither text contains a value of the request. */
export interface ParameterProblem {
  /** The path of the parameter, such as `signal_types.0`; empty for the whole input. */
  parameter: string;
  problem: string;
}

type InputErrorCode = "INVALID_PARAMETERS" | "INVALID_BODY";

/**
 * An error lists only the first problems, because a small body can have thousands of unknown keys.
 */
const MOST_PROBLEMS = 10;

/**
 * Checks an input with a schema. @returns the input with all defaults. @throws ServiceError `code`
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  code: InputErrorCode,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw parameterError(code, schemaProblems(parsed.error, input, Object.keys(shapeOf(schema))));
}

/** Makes the error for wrong parameters. Its message and `details` name each of them. */
export function parameterError(
  code: InputErrorCode,
  problems: readonly ParameterProblem[],
): ServiceError {
  const details = problems.slice(0, MOST_PROBLEMS);
  if (problems.length > MOST_PROBLEMS) {
    details.push({ parameter: "", problem: `more than ${MOST_PROBLEMS} parameters are wrong` });
  }
  const lines = details.map(({ parameter, problem }) =>
    parameter === "" ? problem : `${parameter}: ${problem}`,
  );
  return new ServiceError(code, `${lines.join("; ")}.`, { details });
}

/** Returns the parameters of a schema, by name; for a union the parameters of all members. */
export function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape {
  if (schema instanceof z.ZodObject) return schema.shape;
  return schema instanceof z.ZodUnion ? Object.assign({}, ...schema.options.map(shapeOf)) : {};
}

/** Returns the name of a parameter if it is harmless in an error. */
export function shownName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name)
    ? name
    : "(a name with other characters than letters, digits, _, . and -)";
}

/**
 * Describes the problems. Each parameter gets only its first problem, because the others often
 * follow from it.
 */
function schemaProblems(
  { issues }: z.ZodError,
  input: unknown,
  known: readonly string[],
): ParameterProblem[] {
  const problems = new Map<string, string>();
  for (const issue of issues) {
    if (problems.size > MOST_PROBLEMS) break;
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys.slice(0, MOST_PROBLEMS + 1)) {
        const problem = unknownProblem(key, path.length === 0 ? known : []);
        problems.set([...path, shownName(key)].join("."), problem);
      }
    } else if (!problems.has(path.join("."))) {
      const isMissing = path.length > 0 && valueAt(input, path) === undefined;
      problems.set(path.join("."), isMissing ? "is required" : describeIssue(issue));
    }
  }
  return [...problems].map(([parameter, problem]) => ({ parameter, problem }));
}

function unknownProblem(name: string, known: readonly string[]): string {
  const meant = nearMiss(name.slice(0, 64), known);
  return meant === undefined ? "is not known" : `is not known (did you mean ${meant}?)`;
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
    input,
  );
}
