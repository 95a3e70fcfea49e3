import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { freeLocaleSchema } from "../../contract/locale.js";
import { OPERATIONS, type Operation, type OperationName } from "../../contract/operations.js";
import { authenticate, type Caller } from "../access/authenticate.js";
import type { ReportEvent } from "../instance/events.js";
import { parseInput } from "../operations/parse-input.js";
import { runOperation, type OperationServices } from "../operations/run-operation.js";
import { errorAnswer, type Answer } from "./answer.js";
import { BODY_LIMIT_BYTES, jsonObject, readBody } from "./read-body.js";
import { queryOf, readQuery } from "./read-query.js";

/** The query of operations with a body or without parameters: any query parameter is an error. */
const NO_QUERY = z.strictObject({});

interface OperationRequest {
  name: OperationName;
  request: IncomingMessage;
  /** The decoded parameters of the path. */
  path: Record<string, string>;
  requestId: string;
}

/**
 * Answers a request of an operation. Checks the caller (401) before {@link runOperation} checks the
 * rest.
 */
export async function callOperation(
  { name, request, path, requestId }: OperationRequest,
  services: OperationServices & { report: ReportEvent },
): Promise<Answer> {
  const operation: Operation = OPERATIONS[name];
  const caller = identify(operation, request, services);
  const read = async () => ({ ...(await readParameters(operation, request)), ...path });
  const outcome = await runOperation({ name, caller, read }, services);
  if ("body" in outcome)
    return { status: operation.response.status, headers: outcome.headers, body: outcome.body };
  const answer = errorAnswer(outcome.error, requestId, services.report);
  return { ...answer, headers: { ...answer.headers, ...outcome.headers } };
}

/** Returns the caller; null for a public operation. @throws ServiceError 401 */
function identify(
  { scope, acceptsSession }: Operation,
  request: IncomingMessage,
  { access }: OperationServices,
): Caller | null {
  if (scope === null) return null;
  return authenticate(request.headersDistinct["authorization"] ?? [], access, { acceptsSession });
}

/** Reads the query or the body of an operation, with all defaults. @throws ServiceError 400 */
async function readParameters(
  { scope, body, query = NO_QUERY }: Operation,
  request: IncomingMessage,
): Promise<Record<string, unknown>> {
  const given = queryOf(request);
  // The document lists no parameter error for the public operation: a wrong locale counts as en,
  // other parameters are ignored.
  if (scope === null)
    return { locale: freeLocaleSchema.catch("en").parse(new URLSearchParams(given).get("locale")) };
  const parameters = parseInput(query, readQuery(given, query.shape), "INVALID_PARAMETERS");
  if (body === undefined) return parameters;
  return parseInput(
    body,
    jsonObject(await readBody(request, BODY_LIMIT_BYTES), request),
    "INVALID_BODY",
  );
}
