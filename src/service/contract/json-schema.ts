import { z } from "zod";

/** A JSON object, such as a JSON Schema. */
export type JsonObject = { [key: string]: unknown };

/** The options of `z.toJSONSchema`. The limits and patterns that Zod adds by itself are removed. */
export const JSON_SCHEMA_OPTIONS = {
  target: "draft-2020-12",
  // Describes what a caller sends, so a field with a default is optional.
  io: "input",
  override: ({ jsonSchema }: { jsonSchema: JsonObject }): void => {
    // Zod adds the limits of JavaScript's integers. They are not limits of the service, so they are
    // removed.
    if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) {
      delete jsonSchema["minimum"];
      delete jsonSchema["maximum"];
    }
    // Zod adds a pattern of 300 characters. It is removed, because `format` says the same.
    if (String(jsonSchema["format"]).startsWith("date")) delete jsonSchema["pattern"];
    // A schema accepts any property by default, so these empty objects are removed.
    if (isEmptyObject(jsonSchema["additionalProperties"]))
      delete jsonSchema["additionalProperties"];
    if (
      isEmptyObject(jsonSchema["properties"]) &&
      jsonSchema["additionalProperties"] === undefined
    ) {
      delete jsonSchema["properties"];
    }
  },
} as const;

/**
 * A schema as JSON Schema (draft 2020-12), as a caller sends the value: a field with a default is
 * optional.
 */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _draft, ...jsonSchema } = z.toJSONSchema(schema, JSON_SCHEMA_OPTIONS);
  return jsonSchema;
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
