import type { z } from "zod";
import { describeIssue, nearMiss } from "../../../base/options/option-error.js";
import type { OperationName } from "../../contract/operations.js";
import { ClientError } from "../client-error.js";

/**
 * Checks an input with the schema of its operation, and returns it without `undefined` members. The
 * service adds the defaults.
 *
 * @throws ClientError `invalid_request`, which names the parameter but not its value
 */
export function checkInput<Input extends object>(
  operation: OperationName,
  schema: z.ZodObject,
  input: Input,
): { [Name in keyof Input]: Exclude<Input[Name], undefined> } {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw inputError(operation, schema, parsed.error.issues);
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as ReturnType<typeof checkInput<Input>>;
}

/**
 * Checks a path parameter. With `.` and `..`, the request would be sent to the path of another
 * operation.
 */
export function checkPathParameter(operation: OperationName, name: string, value: unknown): string {
  // A URL cannot contain half of a surrogate pair, so such a value is refused.
  if (
    typeof value === "string" &&
    !["", ".", ".."].includes(value) &&
    !/\p{Surrogate}/u.test(value)
  )
    return value;
  throw invalidRequest(
    operation,
    `"${name}" is not a valid name.`,
    "Give a text that is not empty.",
  );
}

function inputError(
  operation: OperationName,
  schema: z.ZodObject,
  issues: readonly z.core.$ZodIssue[],
): ClientError {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue?.code === "unrecognized_keys") {
    return unknownName(operation, "parameter", issue.keys[0] ?? "", Object.keys(schema.shape));
  }
  const path = issue?.path.join(".") ?? "";
  const words = issue === undefined ? "must be an object" : describeIssue(issue);
  const problem =
    path === "" ? `Its input ${words}.` : `The parameter "${path}" is invalid: it ${words}.`;
  return invalidRequest(operation, problem, "");
}

/**
 * Refuses unknown options of a call, because a misspelt option would have no effect. @throws
 * ClientError `invalid_request`
 */
export function checkCallOptions<Options extends object>(
  operation: OperationName,
  options: Options,
  known: readonly string[] = ["signal"],
): Options {
  if (typeof options !== "object" || options === null) {
    throw invalidRequest(operation, "Its options must be an object.", "");
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownName(operation, "option", unknown, known);
  return options;
}

function unknownName(
  operation: OperationName,
  what: "option" | "parameter",
  name: string,
  known: readonly string[],
): ClientError {
  const meant = nearMiss(name, known);
  const help = meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
  return invalidRequest(operation, `It has no ${what} "${name.slice(0, 100)}".`, help);
}

export function invalidRequest(
  operation: OperationName,
  problem: string,
  help: string,
): ClientError {
  return new ClientError(`${operation} was not sent. ${problem}`, {
    kind: "invalid_request",
    operation,
    help,
  });
}
