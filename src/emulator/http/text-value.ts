import { z } from "zod";

/** A whole number in the one way that it is written: no plus, no exponent, no zeros before it, no point. */
const WHOLE_NUMBER = /^(0|-?[1-9]\d*)$/;
/** A number as JSON writes it. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** What a text of a query or a path is for the schema of its parameter; the schema itself is not applied yet. */
export function textValue(text: string, schema: z.core.$ZodType): { value: unknown } | { problem: string } {
  const base = baseOf(schema);
  if (base instanceof z.ZodNumber) {
    if (base.isInt) return WHOLE_NUMBER.test(text) ? { value: Number(text) } : { problem: "must be a whole number" };
    return NUMBER.test(text) ? { value: Number(text) } : { problem: "must be a number" };
  }
  if (base instanceof z.ZodBoolean) {
    return text === "true" || text === "false" ? { value: text === "true" } : { problem: "must be true or false" };
  }
  if (base instanceof z.ZodObject || base instanceof z.ZodCustom) return { problem: "can be given in the body alone" };
  // A text that is none of these numbers is told by the schema which ones there are.
  const isNumeric = base instanceof z.ZodLiteral && [...base.values].every((value) => typeof value === "number");
  return { value: isNumeric && NUMBER.test(text) ? Number(text) : text };
}

/** What a list's items are; null: the schema is of no list. */
export function itemSchema(schema: z.core.$ZodType): z.core.$ZodType | null {
  const base = baseOf(schema);
  return base instanceof z.ZodArray ? base.element : null;
}

/** What is below a default, an optional or a nullable. */
function baseOf(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable;
  return isWrapped ? baseOf(schema.def.innerType) : schema;
}
