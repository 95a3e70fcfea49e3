import {
  COMPONENTS,
  type ComponentName,
} from "../../../../src/service/contract/openapi/component-schemas.js";
import { openApiDocument } from "../../../../src/service/contract/openapi/openapi-document.js";
import { createDocumentValidator } from "./document-validator.js";

type Json = Record<string, unknown>;

export const DOCUMENT = openApiDocument();
export const SCHEMAS = DOCUMENT.components["schemas"] as Record<string, Json>;
const { faultsOf } = createDocumentValidator(DOCUMENT);

/**
 * Whether a value is one of a named resource of the contract.
 *
 * @throws when zod, which the emulator and the client read with, and ajv, with the OpenAPI
 * document, do not agree
 */
export function fits(name: ComponentName, value: unknown): boolean {
  const byZod = COMPONENTS[name].safeParse(value).success;
  const faults = faultsOf(name, value);
  if (byZod === (faults.length === 0)) return byZod;
  throw new Error(`zod takes it: ${byZod}; ajv: ${faults.join("; ")}; ${JSON.stringify(value)}`);
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  default?: string | number;
}

/**
 * What a JSON Schema says, in a line: `text | null`, `integer 1..50 = 25`, `[{ month: text, share:
 * optional number }]`.
 */
export function notationOf({ default: byDefault, ...schema }: Schema): string {
  const types = Array.isArray(schema.type)
    ? schema.type.map((type) => ({ ...schema, type }))
    : [schema];
  const whole = (schema.anyOf?.map(notationOf) ?? types.map(notationOfOne)).join(" | ");
  return byDefault === undefined ? whole : `${whole} = ${String(byDefault)}`;
}

function notationOfOne({
  $ref,
  type,
  items,
  properties,
  required = [],
  format,
  pattern,
  ...rest
}: Schema): string {
  const { const: only, enum: values = only === undefined ? [] : [only] } = rest;
  if ($ref !== undefined) return $ref.replace("#/components/schemas/", "");
  if (values.length > 0) return values.join(" | ");
  if (type === "array") return `[${notationOf(items ?? {})}]${rangeOf(rest)}`;
  if (properties !== undefined) {
    const fields = Object.entries(fieldsOf({ properties, required })).map(
      ([name, said]) => `${name}: ${said}`,
    );
    return `{ ${fields.join(", ")} }`;
  }
  const kind = type === "string" ? "text" : String(type ?? "anything");
  const form = format === undefined && pattern !== undefined ? ` /${pattern}/` : "";
  return (format ?? kind) + rangeOf(rest) + form;
}

/**
 * The fields of an object, each with its notation, which begins with `optional` if the field can be
 * left out.
 */
export function fieldsOf({ properties = {}, required = [] }: Schema): Record<string, string> {
  const said = Object.entries(properties).map(([name, schema]) => {
    return [name, (required.includes(name) ? "" : "optional ") + notationOf(schema)] as const;
  });
  return Object.fromEntries(said);
}

function rangeOf({ minLength, maxLength, minItems, maxItems, minimum, maximum }: Schema): string {
  const least = minLength ?? minItems ?? minimum;
  const most = maxLength ?? maxItems ?? (maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum);
  return least === undefined && most === undefined ? "" : ` ${least ?? ""}..${most ?? ""}`;
}
