import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import { parameterError, shownName } from "../operations/parameter-problem.js";
import { parseJson } from "./parse-json.js";
import { schemaProblems } from "../operations/schema-problems.js";

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Reads a JSON body by the schema of its operation.
 *
 * @throws ServiceError INVALID_BODY, naming what is wrong
 */
export function readJsonBody<Schema extends z.ZodObject>(
  headers: IncomingHttpHeaders,
  bytes: Buffer,
  schema: Schema,
): z.output<Schema> {
  const value = readJsonObject(headers, bytes);
  const result = schema.safeParse(value);
  if (!result.success)
    throw parameterError("INVALID_BODY", schemaProblems(result.error, value, Object.keys(schema.shape)));
  return result.data;
}

/** @throws ServiceError INVALID_BODY */
export function readJsonObject(headers: IncomingHttpHeaders, bytes: Buffer): object {
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) throw refuse("the header Content-Type must be application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity") throw refuse("the body must not be compressed");
  const parsed = parseJson(bytes);
  if ("key" in parsed) {
    const parameter = parsed.key.map(shownName).join(".");
    throw parameterError("INVALID_BODY", [{ parameter, problem: "is given more than once" }]);
  }
  if ("problem" in parsed) throw refuse(`the body ${parsed.problem}`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refuse("the body must be a JSON object");
  // Schemas look keys up in the object, and would take this one for its prototype.
  if (Object.hasOwn(value, "__proto__")) {
    throw parameterError("INVALID_BODY", [{ parameter: "__proto__", problem: "is not known" }]);
  }
  return value;
}

const refuse = (problem: string): Error => parameterError("INVALID_BODY", [{ parameter: "", problem }]);
