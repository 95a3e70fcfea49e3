import { z } from "zod";
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

/** Control operations, by the names of their methods. */
export type ControlTable = Readonly<Record<string, ControlOperation>>;

/** Makes TypeScript check that `run` accepts the output of the schema `input`. */
export function controlOperation<Input extends z.ZodType, Result>(
  operation: Omit<ControlOperation, "input" | "run"> & {
    input: Input;
    run(input: z.output<Input>): Result;
  },
): typeof operation {
  return operation;
}

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
