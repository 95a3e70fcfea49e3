import { z } from "zod";

/** The path of the control API. */
export const CONTROL_PREFIX = "/_emulator";

/** One operation of the control API: below `/_emulator`, and a method of `emulator.control`. */
export interface ControlOperation {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/_emulator`; `{name}` stands for a part of the input. */
  path: string;
  /** What it does, in one sentence. */
  about: string;
  input: z.ZodType;
  /** What it returns is the answer; bytes are sent as they are. */
  run(input: never): unknown;
}

/** The control operations of a part of the emulator, by the names of their methods. */
export type ControlTable = Readonly<Record<string, ControlOperation>>;

/** Ties the input of `run` to the schema beside it. */
export function controlOperation<Input extends z.ZodType, Result>(
  operation: Omit<ControlOperation, "input" | "run"> & { input: Input; run(input: z.output<Input>): Result },
): typeof operation {
  return operation;
}

/** What a table of control operations is for a caller in the same process. */
export type ControlMethods<Table extends ControlTable> = {
  [Name in keyof Table]: (
    // An operation that needs nothing is called with nothing.
    ...input: Record<string, never> extends z.input<Table[Name]["input"]>
      ? [input?: z.input<Table[Name]["input"]>]
      : [input: z.input<Table[Name]["input"]>]
  ) => Promise<Awaited<ReturnType<Table[Name]["run"]>>>;
};

/** The control operations as data, for `GET /_emulator`. */
export function describeControl(table: ControlTable): object {
  return {
    operations: Object.entries(table).map(([name, { method, path, about, input }]) => ({
      name,
      method,
      path: `${CONTROL_PREFIX}${path}`,
      about,
      // Bytes and other values without a JSON schema are described as anything.
      input: z.toJSONSchema(input, { io: "input", unrepresentable: "any" }),
    })),
  };
}
