import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { parameterError, shownName } from "../operations/parse-input.js";

/** A whole number as it is usually written. Other forms stay texts, and the schema refuses them. */
const WHOLE_NUMBER = /^(0|-?[1-9]\d*)$/;
/** A number as JSON writes it. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The query of a request, without its question mark. */
export function queryOf({ url = "" }: IncomingMessage): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}

/**
 * The parameters of a query, each as the type that its schema wants; the schema is not applied yet. A list is a parameter that
 * is given once for each item.
 *
 * @throws ServiceError INVALID_PARAMETERS for a parameter that is given twice and is no list
 */
export function readQuery(query: string, shape: z.core.$ZodShape): Record<string, unknown> {
  const texts = new URLSearchParams(query);
  const names = [...new Set(texts.keys())];
  const isList = (name: string): boolean => itemSchema(shape, name) !== null;
  const repeated = names.filter((name) => !isList(name) && texts.getAll(name).length > 1);
  if (repeated.length > 0) throw repeatedError(repeated);
  // Own properties all of them, also one that is called __proto__.
  return Object.fromEntries(
    names.map((name) => {
      const item = itemSchema(shape, name);
      if (item !== null) return [name, texts.getAll(name).map((text) => typedValue(text, item))];
      return [name, typedValue(texts.get(name) ?? "", schemaOf(shape, name))];
    }),
  );
}

/** The error for parameters that are given more than once. */
export function repeatedError(names: readonly string[]): Error {
  const problem = "is given more than once";
  return parameterError(
    "INVALID_PARAMETERS",
    names.map((name) => ({ parameter: shownName(name), problem })),
  );
}

/** A text of a query or a path as the type that a schema wants. A text that does not fit stays one, and the schema refuses it. */
export function typedValue(text: string, schema: z.core.$ZodType | undefined): unknown {
  const base = schema === undefined ? undefined : baseOf(schema);
  if (base instanceof z.ZodNumber) return (base.isInt ? WHOLE_NUMBER : NUMBER).test(text) ? Number(text) : text;
  if (base instanceof z.ZodBoolean) return text === "true" || text === "false" ? text === "true" : text;
  const isNumeric = base instanceof z.ZodLiteral && [...base.values].every((value) => typeof value === "number");
  return isNumeric && NUMBER.test(text) ? Number(text) : text;
}

/** Inherited properties such as `constructor` are no parameters. */
function schemaOf(shape: z.core.$ZodShape, name: string): z.core.$ZodType | undefined {
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** The schema of a list's items; null for a parameter that is no list. */
function itemSchema(shape: z.core.$ZodShape, name: string): z.core.$ZodType | null {
  const schema = schemaOf(shape, name);
  const base = schema === undefined ? undefined : baseOf(schema);
  return base instanceof z.ZodArray ? base.element : null;
}

/** The schema below a default, an optional or a nullable. */
function baseOf(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable;
  return isWrapped ? baseOf(schema.def.innerType) : schema;
}
