import type { z } from "zod";

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
