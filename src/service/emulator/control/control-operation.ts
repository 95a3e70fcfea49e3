import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { jsonObject, readBody, queryOf, readQuery, typedValue } from "../http/read-request.js";
import { parseInput, shapeOf } from "../operations/parse-input.js";
import { CONTROL_PREFIX, type DescribedOperation } from "./control-client.js";

/** An operation of the control API. It is also a method of `emulator.control`. */
export interface ControlOperation {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/_emulator`; `{name}` is a parameter of the input. */
  path: string;
  /** One sentence for users. */
  about: string;
  input: z.ZodType;
  /** Returns the body of the answer. Bytes are sent as they are, not as JSON. */
  run(input: never): unknown;
}

type Route = `${ControlOperation["method"]} /${string}`;

/** Control operations, by the names of their methods. */
export type ControlTable = Readonly<Record<string, ControlOperation>>;

/**
 * A row of a control table. TypeScript checks that `run` accepts the input.
 *
 * @param route the method and the path below `/_emulator`
 * @param about one sentence for users
 * @param input the fields of the input, or a schema
 */
export function controlOperation<Input extends z.core.$ZodShape | z.ZodType, Result>(
  route: Route,
  about: string,
  input: Input,
  run: (input: z.output<SchemaOf<Input>>) => Result,
) {
  const [method, path] = route.split(" ") as [ControlOperation["method"], string];
  const schema = (input instanceof z.ZodType ? input : z.strictObject(input)) as SchemaOf<Input>;
  return { method, path, about, input: schema, run };
}

type SchemaOf<Input extends z.core.$ZodShape | z.ZodType> = Input extends z.core.$ZodShape
  ? z.ZodObject<Input, z.core.$strict>
  : Input;

/** The control operations as methods, for callers in the same process. */
export type ControlMethods<Table extends ControlTable> = {
  [Name in keyof Table]: (
    // An operation without required input can be called without an argument.
    ...input: Record<string, never> extends z.input<Table[Name]["input"]>
      ? [input?: z.input<Table[Name]["input"]>]
      : [input: z.input<Table[Name]["input"]>]
  ) => Promise<Awaited<ReturnType<Table[Name]["run"]>>>;
};

/** Describes the control operations, for `GET /_emulator`. */
export function describeControl(table: ControlTable): { operations: DescribedOperation[] } {
  return {
    operations: Object.entries(table).map(([name, { method, path, about, input }]) => ({
      name,
      method,
      path: `${CONTROL_PREFIX}${path}`,
      about,
      // Bytes have no JSON schema and are described as any value.
      input: z.toJSONSchema(input, { io: "input", unrepresentable: "any" }),
    })),
  };
}

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
  return runControl(operation, { ...query, ...body, ...typedPath });
}

/** @throws ServiceError */
export async function runControl(operation: ControlOperation, input: unknown): Promise<object> {
  const parsed = parseInput(operation.input, input, "INVALID_PARAMETERS");
  // `controlOperation` ensures that `run` takes the output of this schema.
  return (operation.run as (given: unknown) => object | Promise<object>)(parsed);
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
