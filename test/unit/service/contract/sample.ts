import { z } from "zod";

interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  format?: string;
  pattern?: string;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
}

const TEXTS: Readonly<Record<string, string>> = {
  "date-time": "2026-03-02T09:15:00.000Z",
  date: "2026-03-02",
  uri: "https://receiver.example/signals",
};

/** The id of the task in {@link sampleOf}. */
export const TASK_ID = "task_3f0c2a6e-5b1d-4e8a-9c47-d2b6f1a0e935";

/** A value that fits a schema of an answer, with every field that it may have, and nothing null. */
export function sampleOf<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
  return valueOf(z.toJSONSchema(schema) as JsonSchema) as z.output<Schema>;
}

function valueOf({
  type,
  const: only,
  enum: values,
  anyOf,
  format = "",
  pattern,
  items,
  properties,
}: JsonSchema): unknown {
  const [kind] = [type].flat();
  if (only !== undefined || values !== undefined) return only ?? values?.[0];
  if (anyOf?.[0] !== undefined) return valueOf(anyOf[0]);
  if (kind === "string") return TEXTS[format] ?? (pattern === undefined ? "a text" : TASK_ID);
  if (kind === "array") return items === undefined ? [] : [valueOf(items)];
  if (kind === "boolean") return true;
  if (kind === "object") {
    return Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, property]) => [name, valueOf(property)]),
    );
  }
  return 1;
}
