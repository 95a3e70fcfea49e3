import type { z } from "zod";
import { openApiDocument } from "../../../src/api/openapi/openapi-document.js";
import { COMPONENTS, type ComponentName } from "../../../src/api/openapi/component-schemas.js";
import { OPERATIONS } from "../../../src/api/operations.js";
import { createDocumentValidator, operationsOf } from "./document-validator.js";
import { sampleOf } from "./sample.js";

type Json = Record<string, unknown>;

const DOCUMENT = openApiDocument();
const { faultsOf } = createDocumentValidator(DOCUMENT);

/** Both must say the same: zod, which the emulator and the client read with, and ajv with the OpenAPI document. */
function agreed(schema: z.ZodType, faults: readonly string[], value: unknown): boolean {
  const byZod = schema.safeParse(value).success;
  if (byZod !== (faults.length === 0)) {
    throw new Error(`zod takes it: ${byZod}; ajv: ${faults.join("; ")}; ${JSON.stringify(value)}`);
  }
  return byZod;
}

/** Whether a value is one of a named resource of the contract. */
export function fits(name: ComponentName, value: unknown): boolean {
  return agreed(COMPONENTS[name], faultsOf(name, value), value);
}

/** What is made of the parameters of an operation; null when they are refused. */
export function readQuery(name: "searchDemand" | "rankings", query: Json): Json | null {
  const described = operationsOf(DOCUMENT).get(name)?.["parameters"] as { name: string; schema: Json }[];
  const properties = Object.fromEntries(described.map((parameter) => [parameter.name, parameter.schema]));
  const schema = OPERATIONS[name].query;
  const faults = faultsOf({ type: "object", properties, additionalProperties: false }, query);
  return agreed(schema, faults, query) ? schema.parse(query) : null;
}

/** A good answer of an operation. */
export function exampleOf(name: keyof typeof OPERATIONS): Json {
  return sampleOf(OPERATIONS[name].response.schema);
}
