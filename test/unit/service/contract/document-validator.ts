import addFormats from "ajv-formats";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { OpenApiDocument } from "../../../../src/service/contract/openapi/openapi-document.js";

const ID = "https://openapi.invalid/document";

type Json = Record<string, unknown>;

/** What ajv, which knows nothing of zod, says of a value. */
export interface DocumentValidator {
  /**
   * The faults of a value by a schema of the document: one that was found in it, or the name of a
   * component.
   */
  faultsOf: (schema: Json | string, value: unknown) => string[];
  /** The faults of an answer, by the schema that the document has for this operation and status. */
  answerFaults: (operationId: string, status: number, body: unknown) => string[];
  /** The error statuses that an operation may answer. */
  statusesOf: (operationId: string) => number[];
}

/** Follows one reference within the document. */
export function resolved(document: OpenApiDocument, value: unknown): Json {
  const pointer = (value as { $ref?: string }).$ref;
  if (pointer === undefined) return value as Json;
  const path = pointer.slice(2).split("/");
  return path.reduce<Json>((at, key) => at[key] as Json, document as unknown as Json);
}

/** Every operation of the document, the deliveries too, by its id. */
export function operationsOf(document: OpenApiDocument): Map<string, Json> {
  const items = [...Object.values(document.paths), ...Object.values(document.webhooks)];
  const operations = items.flatMap((item) => Object.values(item) as Json[]);
  return new Map(operations.map((operation) => [String(operation["operationId"]), operation]));
}

/** Compiles the schemas of a document, in ajv's strict mode, as they are asked for. */
export function createDocumentValidator(document: OpenApiDocument): DocumentValidator {
  // A union such as "string or null" is what the schemas have many of.
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addVocabulary(["components"]);
  ajv.addSchema({ $id: ID, components: document.components });
  const operations = operationsOf(document);
  const compiled = new Map<string, ValidateFunction>();

  function faultsOf(schema: Json | string, value: unknown): string[] {
    const target = typeof schema === "string" ? { $ref: `#/components/schemas/${schema}` } : schema;
    const source = JSON.stringify(target).replaceAll('"#/', `"${ID}#/`);
    const validate = compiled.get(source) ?? ajv.compile(JSON.parse(source) as Json);
    compiled.set(source, validate);
    return validate(value) ? [] : (validate.errors ?? []).map(describeFault);
  }

  function responsesOf(operationId: string): Json {
    const operation = operations.get(operationId);
    if (operation === undefined) throw new Error(`the document has no operation ${operationId}`);
    return operation["responses"] as Json;
  }

  return {
    faultsOf,
    answerFaults: (operationId, status, body) => {
      const response = responsesOf(operationId)[String(status)];
      if (response === undefined) return [`the document has no answer ${status} of ${operationId}`];
      const content = resolved(document, response)["content"] as {
        "application/json": { schema: Json };
      };
      return faultsOf(content["application/json"].schema, body);
    },
    statusesOf: (operationId) => Object.keys(responsesOf(operationId)).map(Number),
  };
}

function describeFault({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`;
}
