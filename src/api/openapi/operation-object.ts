import { OPERATIONS, type Operation, type OperationName } from "../operations.js";
import { componentOf, parameterSchemas, type JsonObject } from "./component-schemas.js";
import { errorResponseRef, quotaHeaderRefs } from "./error-responses.js";
import { OPERATION_EXAMPLES } from "./operation-examples.js";
import { OPERATION_TEXTS, PARAMETER_TEXTS, PATH_PARAMETERS } from "./operation-texts.js";

/** One REST operation as an OpenAPI operation object. */
export function operationObject(name: OperationName): JsonObject {
  const operation: Operation = OPERATIONS[name];
  const { tag, summary, description, answer } = OPERATION_TEXTS[name];
  const example = OPERATION_EXAMPLES[name];
  const parameters = [...pathParameters(operation), ...queryParameters(name, operation)];
  const { status, schema } = operation.response;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: `${description} ${costOf(operation)}`,
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body !== undefined && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: componentOf(operation.body), example: example.request } },
      },
    }),
    responses: {
      [status]: {
        description: answer,
        ...(operation.scope !== null && { headers: quotaHeaderRefs() }),
        content: { "application/json": { schema: componentOf(schema), example: example.response } },
      },
      ...Object.fromEntries(operation.errors.map((error) => [error, errorResponseRef(error)])),
    },
  };
}

function costOf({ scope, quotaUnits }: Operation): string {
  if (scope === null) return "";
  return `Scope \`${scope}\`. Takes ${quotaUnits} of the month's quota.`;
}

// For a scheme that is no OAuth the list holds what a caller must be allowed (OpenAPI 3.1, Security Requirement Object).
function securityOf({ scope, acceptsSession }: Operation): JsonObject[] {
  if (scope === null) return [];
  return [{ apiKey: [scope] }, ...(acceptsSession ? [{ sessionToken: [] }] : [])];
}

function pathParameters({ path }: Operation): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...PATH_PARAMETERS[name],
  }));
}

function queryParameters(operationName: OperationName, { query }: Operation): JsonObject[] {
  if (query === undefined) return [];
  const texts: Record<string, Record<string, string>> = PARAMETER_TEXTS;
  return Object.entries(parameterSchemas(query)).map(([name, schema]) => ({
    name,
    in: "query",
    description: texts[operationName]?.[name],
    schema,
  }));
}
