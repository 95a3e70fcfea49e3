import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { parameterError } from "../operations/parameter-problem.js";
import { readBody } from "../http/read-body.js";
import { readJsonObject } from "../http/read-json-body.js";
import { queryOf } from "../http/read-parameters.js";
import { queryInput } from "../http/read-query.js";
import { schemaProblems } from "../operations/schema-problems.js";
import { textValue } from "../http/text-value.js";
import { ServiceError } from "../operations/service-error.js";
import type { ControlOperation } from "./control-operation.js";

/** A snapshot is the largest body. */
const BODY_LIMIT_BYTES = 1024 * 1024 * 1024;

/**
 * A control operation over HTTP. Its input is what the path, the query and the body say together.
 *
 * @throws ServiceError
 */
export async function callControl(
  operation: ControlOperation,
  request: IncomingMessage,
  path: Record<string, string>,
): Promise<object> {
  const shape = shapeOf(operation.input);
  const { input, problems } = queryInput(queryOf(request), shape);
  for (const [name, text] of Object.entries(path)) {
    const read = textValue(text, shape[name] ?? z.string());
    if (Object.hasOwn(input, name)) problems.push({ parameter: name, problem: "is given more than once" });
    if ("problem" in read) problems.push({ parameter: name, problem: read.problem });
    else input[name] = read.value;
  }
  const body = operation.method === "GET" ? {} : await readInputBody(request);
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(input, name)) problems.push({ parameter: name, problem: "is given more than once" });
  }
  if (problems.length > 0) throw parameterError("INVALID_PARAMETERS", problems);
  return runControl(operation, { ...input, ...body });
}

/** A control operation with the input of whoever calls it. @throws ServiceError */
export async function runControl(operation: ControlOperation, input: unknown): Promise<object> {
  const parsed = operation.input.safeParse(input);
  if (!parsed.success)
    throw parameterError(
      "INVALID_PARAMETERS",
      schemaProblems(parsed.error, input, Object.keys(shapeOf(operation.input))),
    );
  // What the schema gives is what `run` takes: they stand in one entry.
  const result = await (operation.run as (given: unknown) => unknown)(parsed.data);
  return typeof result === "object" && result !== null ? result : {};
}

/** The parameters of an input, by name; of one of several kinds, those of all of them. */
function shapeOf(input: z.core.$ZodType): z.core.$ZodShape {
  if (input instanceof z.ZodObject) return input.shape;
  return input instanceof z.ZodUnion ? Object.assign({}, ...input.options.map(shapeOf)) : {};
}

async function readInputBody(request: IncomingMessage): Promise<object> {
  const bytes = await readBody(request, BODY_LIMIT_BYTES);
  if (bytes === null) throw new ServiceError("INVALID_BODY", "The body ended early.");
  if (bytes.length === 0) return {};
  if (request.headers["content-type"] === "application/octet-stream") return { bytes };
  return readJsonObject(request.headers, bytes);
}
