import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { parameterError, shownName } from "../operations/parse-input.js";

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
  const isList = (name: string): boolean => itemSchema(shape, name) !== null;
  const repeated = names.filter((name) => !isList(name) && texts.getAll(name).length > 1);
  if (repeated.length > 0) throw repeatedError(repeated);
  // `fromEntries` makes every parameter an own property, even a parameter with the name __proto__.
  return Object.fromEntries(
    names.map((name) => {
      const item = itemSchema(shape, name);
      if (item !== null) return [name, texts.getAll(name).map((text) => typedValue(text, item))];
      return [name, typedValue(texts.get(name) ?? "", schemaOf(shape, name))];
    }),
  );
}

export function repeatedError(names: readonly string[]): Error {
  const problems = names.map((name) => ({
    parameter: shownName(name),
    problem: "is given more than once",
  }));
  return parameterError("INVALID_PARAMETERS", problems);
}

/**
 * Converts a text to the type of a schema. A text that cannot be converted is returned as it is,
 * and the schema refuses it.
 */
export function typedValue(text: string, schema: z.core.$ZodType | undefined): unknown {
  const base = schema === undefined ? undefined : baseOf(schema);
  if (base instanceof z.ZodNumber)
    return (base.isInt ? WHOLE_NUMBER : NUMBER).test(text) ? Number(text) : text;
  if (base instanceof z.ZodBoolean)
    return text === "true" || text === "false" ? text === "true" : text;
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
