import { z } from "zod";
import { issueWords } from "../../options/issue-words.js";
import { nearMiss } from "../../options/near-miss.js";
import { ServiceError } from "./service-error.js";

/** What is wrong with one parameter. Neither text repeats a value of the request. */
export interface ParameterProblem {
  /** Its path, such as `signal_types.0`; empty for the whole input. */
  parameter: string;
  problem: string;
}

type InputErrorCode = "INVALID_PARAMETERS" | "INVALID_BODY";

/** An error names the first ones only: a small body can have thousands of unknown keys. */
const MOST_PROBLEMS = 10;

/**
 * Checks an input by the schema of its operation.
 *
 * @returns the input with every default in its place
 * @throws ServiceError `code`, with what is wrong
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

/** The error for wrong parameters: the message names each, `details` lists them. */
export function parameterError(code: InputErrorCode, problems: readonly ParameterProblem[]): ServiceError {
  const details = problems.slice(0, MOST_PROBLEMS);
  if (problems.length > MOST_PROBLEMS) {
    details.push({ parameter: "", problem: `more than ${MOST_PROBLEMS} parameters are wrong` });
  }
  const lines = details.map(({ parameter, problem }) => (parameter === "" ? problem : `${parameter}: ${problem}`));
  return new ServiceError(code, `${lines.join("; ")}.`, { details });
}

/** The parameters of a schema, by name; of a union those of all its members. */
export function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape {
  if (schema instanceof z.ZodObject) return schema.shape;
  return schema instanceof z.ZodUnion ? Object.assign({}, ...schema.options.map(shapeOf)) : {};
}

/** A name of the request as an error may show it. */
export function shownName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : "(a name with other characters than letters, digits, _, . and -)";
}

/** In our words. Each parameter gets its first problem, since the others often follow from that one. */
function schemaProblems({ issues }: z.ZodError, input: unknown, known: readonly string[]): ParameterProblem[] {
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
      problems.set(path.join("."), isMissing ? "is required" : issueWords(issue));
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
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}
