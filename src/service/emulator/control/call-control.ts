import type { IncomingMessage } from "node:http";
import { jsonObject, readBody } from "../http/read-body.js";
import { queryOf, readQuery, repeatedError, typedValue } from "../http/read-query.js";
import { parseInput, shapeOf } from "../operations/parse-input.js";
import type { ControlOperation } from "./control-operation.js";

const JSON_LIMIT_BYTES = 1024 * 1024;
const SNAPSHOT_LIMIT_BYTES = 1024 * 1024 * 1024;

/**
 * Runs a control operation for an HTTP request. Its input combines path, query and body. @throws
 * ServiceError
 */
export async function callControl(
  operation: ControlOperation,
  request: IncomingMessage,
  path: Record<string, string>,
): Promise<object> {
  const shape = shapeOf(operation.input);
  const typedPath = Object.fromEntries(
    Object.entries(path).map(([name, text]) => [name, typedValue(text, shape[name])]),
  );
  const query = readQuery(queryOf(request), shape);
  const body = await readInputBody(operation, request);
  const repeated = [
    ...Object.keys(query).filter((name) => Object.hasOwn(path, name)),
    ...Object.keys(body).filter((name) => Object.hasOwn(path, name) || Object.hasOwn(query, name)),
  ];
  if (repeated.length > 0) throw repeatedError(repeated);
  return runControl(operation, { ...typedPath, ...query, ...body });
}

/** @throws ServiceError */
export async function runControl(operation: ControlOperation, input: unknown): Promise<object> {
  const parsed = parseInput(operation.input, input, "INVALID_PARAMETERS");
  // `controlOperation` ensures that `run` takes the output of this schema.
  const result = await (operation.run as (given: unknown) => unknown)(parsed);
  return typeof result === "object" && result !== null ? result : {};
}

async function readInputBody(
  { method }: ControlOperation,
  request: IncomingMessage,
): Promise<object> {
  if (method === "GET") return {};
  const isSnapshot = request.headers["content-type"] === "application/octet-stream";
  const bytes = await readBody(request, isSnapshot ? SNAPSHOT_LIMIT_BYTES : JSON_LIMIT_BYTES);
  if (bytes.length === 0) return {};
  return isSnapshot ? { bytes } : jsonObject(bytes, request);
}
