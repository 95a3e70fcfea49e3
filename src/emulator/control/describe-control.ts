import { z } from "zod";
import type { ControlTable } from "./control-operation.js";

/** Where the control API begins. */
export const CONTROL_PREFIX = "/_emulator";

/** The control operations as data, for `GET /_emulator`. */
export function describeControl(table: ControlTable): object {
  return {
    operations: Object.entries(table).map(([name, { method, path, about, input }]) => ({
      name,
      method,
      path: `${CONTROL_PREFIX}${path}`,
      about,
      // What is no JSON, such as bytes, is anything.
      input: z.toJSONSchema(input, { io: "input", unrepresentable: "any" }),
    })),
  };
}
