import type { Gate } from "../operations/shutdown-gate.js";
import type { ControlTable } from "./control-operation.js";

/** The same operations, each of which holds the gate open until it is done. */
export function gatedControl<Table extends ControlTable>(table: Table, gate: Gate): Table {
  const entries = Object.entries(table).map(([name, operation]) => {
    const run = operation.run as (input: unknown) => unknown;
    return [name, { ...operation, run: (input: unknown) => gate.run(() => run(input)) }];
  });
  // What an operation gives comes as a promise now, as it does over HTTP.
  return Object.fromEntries(entries) as Table;
}
