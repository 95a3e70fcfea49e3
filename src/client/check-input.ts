import type { z } from "zod";
import type { OperationName } from "../api/operations.js";
import { nearMiss } from "../near-miss.js";
import { ClientError } from "./client-error.js";

/**
 * What the caller gave, without what is `undefined`, if the document allows it: what the service would refuse anyway takes
 * none of the monthly quota then. Defaults are left to the service.
 *
 * @throws ClientError `invalid_request`, which names the parameter and not its value
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

/** A path parameter. What a URL parser takes for a step in the path would reach another operation. */
export function checkPathParameter(operation: OperationName, name: string, value: unknown): string {
  // Half of a surrogate pair cannot be written into a URL.
  if (typeof value === "string" && !["", ".", ".."].includes(value) && !/\p{Surrogate}/u.test(value)) return value;
  throw invalidRequest(operation, `"${name}" is no name of anything.`, "Give a text that is not empty.");
}

function inputError(operation: OperationName, schema: z.ZodObject, issues: readonly z.core.$ZodIssue[]): ClientError {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue?.code === "unrecognized_keys") {
    const name = issue.keys[0] ?? "";
    const known = Object.keys(schema.shape);
    const meant = nearMiss(name, known);
    const help = meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
    return invalidRequest(operation, `It has no parameter "${name.slice(0, 100)}".`, help);
  }
  const path = issue?.path.join(".") ?? "";
  const subject = path === "" ? "Its input" : `The parameter "${path}"`;
  return invalidRequest(operation, `${subject} is invalid: ${issue?.message ?? "expected an object"}.`, "");
}

/** One that was not sent. */
export function invalidRequest(operation: OperationName, problem: string, help: string): ClientError {
  return new ClientError(`${operation} was not sent. ${problem}`, { kind: "invalid_request", operation, help });
}
