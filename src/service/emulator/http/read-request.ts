import type { IncomingMessage } from "node:http";
import { finished } from "node:stream/promises";
import getRawBody from "raw-body";
import { z } from "zod";
import { ignore } from "../../../base/errors.js";
import { parameterError, shownName } from "../operations/parse-input.js";
import { ServiceError } from "../operations/service-error.js";

/** A call of the service with a larger body is refused. Documented bodies are much smaller. */
export const BODY_LIMIT_BYTES = 64 * 1024;

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Refuses bytes that are not UTF-8. Keeps a BOM, which JSON does not allow. */
export const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Parses the JSON object in a body. @throws ServiceError INVALID_BODY */
export function jsonObject(bytes: Buffer, { headers }: IncomingMessage): object {
  if (!JSON_TYPE.test(headers["content-type"] ?? ""))
    throw refusal("the header Content-Type must be application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    throw refusal("the body must not be compressed");
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw refusal(error instanceof SyntaxError ? "the body is not JSON" : "the body is not UTF-8");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusal("the body must be a JSON object");
  }
  return value;
}

const refusal = (problem: string): ServiceError =>
  parameterError("INVALID_BODY", [{ parameter: "", problem }]);

/**
 * Reads the body of a request.
 *
 * @throws ServiceError INVALID_BODY when the body is larger than `limitBytes`, or when the client
 * disconnected
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: limitBytes });
  } catch {
    await dropRest(request);
    const message = `The body must be complete and at most ${limitBytes} bytes.`;
    throw new ServiceError("INVALID_BODY", message, { headers: { Connection: "close" } });
  }
}

const MOST_DROPPED_MS = 2000;

/**
 * Reads the rest of a refused body and drops it, for so long at most. If the connection were closed
 * before, the client could get an error while it writes, and not read the answer.
 */
async function dropRest(request: IncomingMessage): Promise<void> {
  request.resume();
  const signal = AbortSignal.timeout(MOST_DROPPED_MS);
  await finished(request, { writable: false, signal }).catch(ignore);
}

/** A whole number without plus sign and leading zeros. */
const WHOLE_NUMBER = /^(0|-?[1-9]\d*)$/;
/** A number as JSON writes it. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Returns the query of a request, without the question mark. */
export function queryOf({ url = "" }: IncomingMessage): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

/**
 * Reads the parameters of a query and converts each to the type of its schema, but does not apply
 * the schema. A list is given as one parameter for each item.
 *
 * @throws ServiceError INVALID_PARAMETERS for a parameter that is given twice and is not a list
 */
export function readQuery(query: string, shape: z.core.$ZodShape): Record<string, unknown> {
  const texts = new URLSearchParams(query);
  const names = [...new Set(texts.keys())];
  const repeated = names.filter(
    (name) => itemSchema(shape, name) === null && texts.getAll(name).length > 1,
  );
  if (repeated.length > 0) {
    const problem = "is given more than once";
    const problems = repeated.map((name) => ({ parameter: shownName(name), problem }));
    throw parameterError("INVALID_PARAMETERS", problems);
  }
  // `fromEntries` makes every parameter an own property, even a parameter with the name __proto__.
  return Object.fromEntries(
    names.map((name) => {
      const item = itemSchema(shape, name);
      if (item !== null) return [name, texts.getAll(name).map((text) => typedValue(text, item))];
      return [name, typedValue(texts.get(name) ?? "", schemaOf(shape, name))];
    }),
  );
}

/**
 * Converts a text to the type of a schema. A text that cannot be converted is returned as it is,
 * and the schema refuses it.
 */
export function typedValue(text: string, schema: z.core.$ZodType | undefined): unknown {
  const base = schema === undefined ? undefined : baseOf(schema);
  if (base instanceof z.ZodNumber)
    return (base.isInt ? WHOLE_NUMBER : NUMBER).test(text) ? Number(text) : text;
  const isNumeric =
    base instanceof z.ZodLiteral && [...base.values].every((value) => typeof value === "number");
  return isNumeric && NUMBER.test(text) ? Number(text) : text;
}

/** Ignores inherited properties such as `constructor`. */
function schemaOf(shape: z.core.$ZodShape, name: string): z.core.$ZodType | undefined {
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** Returns the schema of a list's items; null for a parameter that is not a list. */
function itemSchema(shape: z.core.$ZodShape, name: string): z.core.$ZodType | null {
  const schema = schemaOf(shape, name);
  const base = schema === undefined ? undefined : baseOf(schema);
  return base instanceof z.ZodArray ? base.element : null;
}

/** Returns the schema inside of a default, an optional or a nullable. */
function baseOf(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable;
  return isWrapped ? baseOf(schema.def.innerType) : schema;
}
